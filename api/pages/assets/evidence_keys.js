// The keys of the viewer, and the line that lists them.

import { around, el } from "./dom.js";

/** What a key does, and in words. @typedef {Record<string, { text: string, act: () => unknown }>} Keys */

/** @type {Record<string, string>} */
const NAMES = { ArrowLeft: "←", ArrowRight: "→", " ": "Space", Home: "Home" };

/** Listen to keys; those typed into a field are left alone. @param {Keys} keys by `event.key`; keys with the same text are listed once */
export function listenToKeys(keys) {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const field = around(event, "input, select, textarea");
    if (field !== null && !["checkbox", "radio"].includes(field.getAttribute("type") ?? "")) return;
    // The space bar presses a focused button or checkbox, as everywhere.
    if (event.key === " " && around(event, "button, a, input, summary") !== null) return;
    const known = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (known === undefined) return;
    event.preventDefault();
    known.act();
  });
}

/** The keys and what they do. @param {Keys} keys */
export function keyHelp(keys) {
  /** @type {Map<string, string[]>} */
  const texts = new Map();
  for (const [key, { text }] of Object.entries(keys)) texts.set(text, [...(texts.get(text) ?? []), NAMES[key] ?? key.toUpperCase()]);
  return [...texts].map(([text, names]) => el("span", {}, names.map((name) => el("kbd", {}, name)), ` ${text}`));
}
