// The windows of two cards as text, a line for each: the highest roll it is for, then its black, red and blue result, each with
// the dot beside it, such as "20: -2 black, 3 red, 5 blue".

import { el } from "./dom.js";
import { field } from "./panel_fields.js";

const DOTS = ["black", "red", "blue"];
const EXAMPLE = "20: -2 black, 3 red, 5 blue";

/** A field for the windows; `read()` returns them, `[]` where it is empty. A line that is no window makes the field invalid. */
export function windowsField() {
  const box = el("textarea", { rows: 5, placeholder: EXAMPLE, spellcheck: false });
  box.addEventListener("input", () => box.setCustomValidity(problem(box.value)));
  return { box, label: field("Windows: highest roll, then black, red, blue result with its dot", box, "wide"), read: () => lines(box.value).map(asWindow) };
}

const lines = (text) => text.split("\n").map((line) => line.trim()).filter(Boolean);

function problem(text) {
  const place = lines(text).findIndex((line) => asWindow(line) === null);
  return place < 0 ? "" : `Window ${place + 1} must look like ${EXAMPLE}`;
}

function asWindow(line) {
  const found = /^(\d{1,3})\s*:\s*([^,]+),([^,]+),([^,]+)$/.exec(line);
  if (found === null) return null;
  const [black, red, blue] = found.slice(2).map(asResult);
  return { rolls_to: Number(found[1]), black, red, blue };
}

function asResult(text) {
  const words = text.trim().split(/\s+/);
  const dot = DOTS.includes(words.at(-1).toLowerCase()) ? words.pop().toLowerCase() : null;
  return { shown: words.join(" "), dot };
}
