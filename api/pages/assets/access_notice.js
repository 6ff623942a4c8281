// What keeps a device from following the game: it is not paired, or something in between lets no live feed through.

import { el } from "./dom.js";
import { send } from "./send.js";

/** A feed that has not come after this long, while pages do, is held back by something in between. */
const HELD_BACK_MS = 10_000;

/**
 * Say in a box why the device can't do what the page is for.
 *
 * @param {string[]} roles that can
 * @param {HTMLElement} box
 * @param {Feed} feed
 * @returns {Promise<?Service.SessionDetails>} the device's session; null where the rig does not answer
 */
export async function noteAccess(box, feed, roles) {
  const session = await send("api/session", null, { method: "GET" }).catch(() => null);
  if (session === null) return null;
  if (!roles.includes(session.role)) {
    show(box, session.role === null ? "This device is not paired yet." : "This device can only watch.", el("a", { class: "button small", href: "pair" }, "Pair this device"));
  } else {
    setTimeout(() => {
      if (feed.link !== "connecting") return;
      show(box, "The live feed does not come through. A proxy in between has to pass WebSockets on: “Access” in the documents of the service says how.");
      feed.onLink((link) => (box.hidden = link === "live"));
    }, HELD_BACK_MS);
  }
  return session;
}

/** @param {HTMLElement} box @param {string} text @param {Node[]} more */
function show(box, text, ...more) {
  box.replaceChildren(el("p", {}, text), ...more);
  box.hidden = false;
}
