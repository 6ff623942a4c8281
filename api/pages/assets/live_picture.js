// The camera's picture in a page: opened again after every break, and never shown as live while the connection is gone.
//
// It comes over a WebSocket, since pictures over HTTP would take the connections that taps need: a browser opens six to a
// host, for all its pages together. It ends while the page is hidden.

import { el, setText } from "./dom.js";
import { socketAddress } from "./feed.js";

const RETRY_MS = 3_000;

/** A picture that no other has followed for so long is no longer live. */
const OLD_MS = 5_000;

/** The service closes with this what is asked for too often at once (RFC 6455: try again later). */
const TOO_MANY = 1013;

/** Whether what the rig has of the camera is past. @param {Service.HealthStatus | undefined} health */
export const isCameraLost = (health) => health?.reasons.some(({ code }) => code === "camera_lost") ?? false;

/**
 * Show the camera's picture while it is wanted. The image has events `load` with each picture, and `error` when it breaks off.
 *
 * @param {HTMLImageElement} image
 * @param {Feed} feed
 * @param {() => boolean} [wanted] whether the page has room for it now
 * @returns a function to call when that may have changed
 */
export function followPicture(image, feed, wanted = () => true) {
  let begun = false;
  let retry = 0;
  /** @type {?WebSocket} */
  let socket = null;

  const note = el("p", { class: "past-picture", role: "status", hidden: true });
  image.after(note);
  let shown_ms = 0; // when the picture came that is shown

  /** Say of a picture that is no longer live since when it is not. */
  const markPast = () => {
    const old = image.hasAttribute("src") && performance.now() - shown_ms > OLD_MS;
    const lost = image.hasAttribute("src") && isCameraLost(feed.value("health"));
    image.classList.toggle("past", old || lost);
    note.hidden = !(old || lost);
    const at = new Date(Date.now() - (performance.now() - shown_ms)).toLocaleTimeString();
    setText(note, old ? `Not live: no new picture since ${at}.` : lost ? "Not live: the camera is lost." : "");
  };
  feed.on("health", markPast);
  setInterval(markPast, 1_000);

  const open = () => {
    clearTimeout(retry);
    if (!begun || socket !== null || document.hidden || feed.link !== "live" || !wanted()) return;
    const opened = new WebSocket(socketAddress("camera.ws"));
    socket = opened;
    opened.binaryType = "blob";
    opened.onmessage = async ({ data }) => {
      const before = image.src;
      image.src = URL.createObjectURL(data);
      shown_ms = performance.now();
      markPast();
      await image.decode().catch(() => {}); // a broken picture is followed by a whole one
      URL.revokeObjectURL(before);
      if (socket === opened) opened.send("shown");
    };
    opened.onclose = ({ code }) => {
      if (socket !== opened) return; // the page closed it
      close();
      image.dispatchEvent(new Event("error"));
      retry = setTimeout(open, code === TOO_MANY ? 10 * RETRY_MS : RETRY_MS);
    };
  };
  const close = () => {
    const closed = socket;
    socket = null;
    closed?.close();
    URL.revokeObjectURL(image.src);
    image.removeAttribute("src"); // no picture from before, which would stand as if live
    markPast();
  };

  const update = () => (document.hidden || !wanted() ? close() : open());
  feed.onLink((link) => {
    image.classList.toggle("stale", link === "stale");
    if (link === "live") open();
  });
  document.addEventListener("visibilitychange", update);
  return () => {
    begun = true;
    update();
  };
}
