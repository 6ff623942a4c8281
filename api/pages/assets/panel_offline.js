// The panel without a connection: what waits to be sent, the game as it was last known, and the page itself.

import { el, refresh } from "./dom.js";

const LAST = "downfield.panel.last";

/** @type {(keyof Service.Topics)[]} */
const TOPICS = ["game", "ball", "line_up", "declared", "questions", "calls"];

/** Without a connection for so long after the page was opened, the game is shown as it was. */
const WITHOUT_MS = 1_500;

/** A game of another day is not shown. */
const LAST_OF_MS = 12 * 3_600_000;

const SAVE_MS = 5_000;

/**
 * Fill the section with what waits to be sent; `drop(id)` takes one of it back.
 *
 * @param {HTMLElement} section
 * @param {import("./outbox.js").Item[]} waiting
 * @param {(id: string) => void} drop
 */
export function waitingSection(section, waiting, drop) {
  section.hidden = waiting.length === 0;
  refresh(section, waiting.map(({ id }) => id), () => [
    el("h2", {}, `Not sent yet: ${waiting.length}`),
    el("p", { class: "muted" }, "Kept on this phone, and sent in this order when the rig can be reached."),
    el("ol", {}, waiting.map(({ id, label, tapped_ms }) =>
      el(
        "li",
        {},
        el("span", { class: "what" }, label, el("small", {}, `tapped at ${new Date(tapped_ms).toLocaleTimeString()}`)),
        el("button", { type: "button", class: "small", "aria-label": `Do not send: ${label}`, onclick: () => drop(id) }, "Remove"),
      ),
    )),
  ]);
}

/** Remember the game as it is shown, and show it again when the page is opened without a connection. @param {Feed} feed */
export function rememberGame(feed) {
  setTimeout(() => {
    const last = read();
    if (feed.link !== "live" && last !== null && Date.now() - last.at_ms < LAST_OF_MS) feed.recall(last.values);
  }, WITHOUT_MS);
  const save = () => {
    if (feed.link !== "live" || feed.value("game") === undefined) return;
    const values = Object.fromEntries(TOPICS.map((topic) => [topic, feed.value(topic)]));
    try {
      localStorage.setItem(LAST, JSON.stringify({ at_ms: Date.now(), values }));
    } catch {
      // a private window keeps nothing, and a full one not this
    }
  };
  setInterval(save, SAVE_MS);
  addEventListener("pagehide", save);
  document.addEventListener("visibilitychange", save);
}

/** @returns {?{ at_ms: number, values: Partial<Service.Topics> }} */
function read() {
  try {
    return JSON.parse(localStorage.getItem(LAST) ?? "null");
  } catch {
    return null;
  }
}

/** Keep the page's files on the phone, so that it opens without a network; browsers do so for localhost and over TLS. */
export function keepPage() {
  navigator.serviceWorker?.register("panel-worker.js", { scope: "panel" }).catch(() => {}); // it needs the network then
}
