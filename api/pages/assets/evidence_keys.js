// The keys of the viewer, and the line that tells them.

import { el } from "./dom.js";

const NAMES = { ArrowLeft: "←", ArrowRight: "→", " ": "Space", Home: "Home" };

/**
 * Listen to keys; those typed into a field are left alone.
 *
 * @param keys by `event.key`: {text, act}; keys with the same text are told once
 */
export function listenToKeys(keys) {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const field = event.target.closest?.("input, select, textarea");
    if (field && !["checkbox", "radio"].includes(field.type)) return;
    // The space bar presses a focused button or checkbox, as everywhere.
    if (event.key === " " && event.target.closest?.("button, a, input, summary")) return;
    const known = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (known === undefined) return;
    event.preventDefault();
    known.act();
  });
}

/** The keys and what they do. */
export function keyHelp(keys) {
  const texts = new Map();
  for (const [key, { text }] of Object.entries(keys)) texts.set(text, [...(texts.get(text) ?? []), NAMES[key] ?? key.toUpperCase()]);
  return [...texts].map(([text, names]) => el("span", {}, names.map((name) => el("kbd", {}, name)), ` ${text}`));
}
