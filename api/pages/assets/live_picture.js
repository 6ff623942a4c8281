// The camera's picture in a page: opened again after every break, and never shown as live while the connection is gone.

const RETRY_MS = 3_000;

/**
 * Show the camera's picture while it is wanted.
 *
 * @param {() => boolean} [wanted] whether the page has room for it now
 * @param {HTMLImageElement} image
 * @param {Feed} feed
 * @returns a function to call when that may have changed
 */
export function followPicture(image, feed, wanted = () => true) {
  let shown = false;
  let retry = 0;
  const open = () => {
    clearTimeout(retry);
    if (shown && feed.link === "live") image.src = `camera.mjpeg?from=${Date.now()}`; // a new address, or the browser keeps the broken picture
  };
  image.addEventListener("error", () => {
    image.removeAttribute("src"); // no broken picture either
    retry = setTimeout(open, RETRY_MS);
  });
  feed.onLink((link) => {
    image.classList.toggle("stale", link === "stale");
    if (link === "live") open();
  });
  return () => {
    if (wanted() === shown) return;
    shown = !shown;
    if (shown) open();
    else image.removeAttribute("src");
  };
}
