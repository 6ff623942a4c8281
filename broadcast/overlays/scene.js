// One source for OBS: the score bug, the call banner, the replay, the cards and the sponsors, each in a frame of its own.

import { el } from "./dom.js";
import { overlay } from "./overlay.js";

/** A call banner as large as this just leaves room for the sponsors beside it. */
const MOST_SPONSOR_SCALE = 1.2;

/**
 * Option, overlay and place of each part; "" for the place that the scene's own option names. The lowest first: nothing is ever
 * under the sponsors, and a card over the whole picture is over the score bug.
 *
 * @type {["sponsors" | "cards" | "scorebug" | "calls" | "replay", string, string][]}
 */
const PARTS = [
  ["sponsors", "sponsors", ""],
  ["scorebug", "scorebug", ""],
  ["cards", "graphics", "bottom-left"],
  ["calls", "calls", "top"],
  ["replay", "replay", "full"],
];

overlay("scene", (stage, options) => {
  const said = new URLSearchParams(location.search);
  for (const [option, name, place] of PARTS) {
    if (options[option] === "hide") continue;
    const query = new URLSearchParams({ position: place || options.position });
    for (const option of ["theme", "scale"]) if (said.has(option)) query.set(option, said.get(option) ?? ""); // else as the producer has it
    if (name === "sponsors") {
      query.set("position", options.sponsors);
      query.set("scale", String(Math.min(options.scale, MOST_SPONSOR_SCALE)));
    }
    if (["graphics", "calls"].includes(name) && options.scorebug === "show") query.set("lift", "140");
    if (name === "calls" && options.sponsors !== "hide") query.set("free", options.sponsors);
    if (options.key) query.set("key", options.key);
    stage.append(el("iframe", { src: `overlay/${name}?${query}`, title: name, allowtransparency: true }));
  }
});
