// The event, polled every two seconds; the service answers 304 while nothing has changed.

const POLL_MS = 2_000;

/**
 * Keep asking for a path; `onValue` gets each new value and when it was requested (`performance.now()`), `onLink` "live" or "lost". An overlay's key is passed on.
 *
 * @param {string} path
 * @param {(value: any, requested_ms: number) => void} onValue receives each new value, of the service's model
 * @param {(link: keyof typeof LINK_TEXTS) => void} [onLink]
 * @param {number} [every_ms]
 */
export function follow(path, onValue, onLink = () => {}, every_ms = POLL_MS) {
  let etag = "";
  const key = new URLSearchParams(location.search).get("key");
  const address = key === null ? path : `${path}?key=${encodeURIComponent(key)}`;
  const ask = async () => {
    const requested_ms = performance.now();
    try {
      const response = await fetch(address, { headers: etag ? { "If-None-Match": etag } : {}, cache: "no-store" });
      if (response.status === 200) {
        etag = response.headers.get("ETag") ?? "";
        onValue(await response.json(), requested_ms);
      }
      const link = response.status === 200 || response.status === 304 ? "live" : response.status === 401 ? "unpaired" : "lost";
      document.documentElement.dataset.link = link;
      onLink(link);
    } catch {
      document.documentElement.dataset.link = "lost";
      onLink("lost");
    }
    setTimeout(ask, every_ms);
  };
  ask();
}

export const LINK_TEXTS = {
  connecting: "Connecting…",
  live: "Live",
  lost: "No connection",
  unpaired: "This device is not paired",
};
