// What a tape measure tells of the print and its camera, in inches or millimeters.

import { find } from "./dom.js";

const MM_PER_IN = 25.4;
const tape = find(document, "#tape", HTMLDetailsElement);
const unit = find(tape, "[name=unit]", HTMLSelectElement);

/** @typedef {"goal" | "side" | "height"} Tape */

/** @param {Tape} name */
const field = (name) => find(tape, `[name=${name}]`, HTMLInputElement);

/** @param {Tape} name */
const inMm = (name) => {
  const value = field(name).valueAsNumber;
  return Number.isFinite(value) ? value * (unit.value === "in" ? MM_PER_IN : 1) : null;
};

/** What was measured, in millimeters; null for what was not. */
export const measured = () => ({ goal_to_goal_mm: inMm("goal"), side_to_side_mm: inMm("side"), camera_height_mm: inMm("height") });

/** Show where a measurement is entered. @param {Tape} name */
export function enter(name) {
  tape.open = true;
  field(name).focus();
}

/** Show the entries with a new solution, where one of them would help. @param {Service.SetupView} view */
export function begin(view) {
  tape.open = view.advice !== "" || !view.lengths_known;
}
