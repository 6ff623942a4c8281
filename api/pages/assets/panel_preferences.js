// How this phone is used: the hand that holds it, sun, sound, vibration. Kept on the phone, sent nowhere.

import { el } from "./dom.js";
import { playCue } from "./sounds.js";
import { screenNote } from "./wake_lock.js";

/** @typedef {"left" | "sun" | "sound" | "vibration"} Preference */

/** What each is called, and what it is at first. @type {Record<Preference, [string, boolean]>} */
const PREFERENCES = {
  left: ["Left-handed: buttons on the left", false],
  sun: ["High contrast, for bright light", false],
  sound: ["Sound when I am asked something", true],
  vibration: ["Vibration", true],
};

const KEY = "downfield.panel";

/** @type {Partial<Record<Preference, boolean>>} */
const chosen = read();
apply();

function read() {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "{}") ?? {};
  } catch {
    return {}; // a private window keeps nothing
  }
}

/** @param {Preference} name */
export function prefers(name) {
  return chosen[name] ?? PREFERENCES[name][1];
}

function apply() {
  for (const name of /** @type {const} */ (["left", "sun"])) document.documentElement.toggleAttribute(`data-${name}`, prefers(name));
}

/** The switches, as a form. */
export function preferenceForm() {
  const note = screenNote();
  const switches = Object.entries(PREFERENCES).map(([key, [label]]) => {
    const name = /** @type {Preference} */ (key);
    const box = el("input", { type: "checkbox", checked: prefers(name), onchange: () => {
      chosen[name] = box.checked;
      try {
        localStorage.setItem(KEY, JSON.stringify(chosen));
      } catch {
        // it holds until the page is closed
      }
      apply();
      if (name === "sound" && box.checked) playCue("question");
      vibrate(20);
    } });
    return el("label", { class: "check" }, box, label);
  });
  return note ? [...switches, el("p", { class: "muted" }, note)] : switches;
}

/** @param {number | number[]} pattern */
export function vibrate(pattern) {
  if (prefers("vibration")) navigator.vibrate?.(pattern);
}

/** Call for attention: a question has come. */
export function alertOperator() {
  vibrate([60, 60, 60]);
  if (prefers("sound")) playCue("question");
}
