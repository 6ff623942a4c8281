// The windows of two cards as text, a line for each: the highest roll it is for, then its black, red and blue result, each with
// the dot beside it, such as "20: -2 black, 3 red, 5 blue". A photo of the cards fills in the results; the rolls stay as they are.

import { context2d, el } from "./dom.js";
import { field } from "./panel_fields.js";
import { messageOf } from "./send.js";

/** @type {("black" | "red" | "blue")[]} */
const DOTS = ["black", "red", "blue"];
const EXAMPLE = "20: -2 black, 3 red, 5 blue";

/** A field for the windows; `read()` returns them, `[]` where it is empty. A line that is no window makes the field invalid. */
export function windowsField() {
  const box = el("textarea", { rows: 5, placeholder: EXAMPLE, spellcheck: false });
  box.addEventListener("input", () => box.setCustomValidity(problem(box.value)));
  const state = el("small", { role: "status" });
  const photo = el("input", { type: "file", accept: "image/*", capture: "environment" });
  photo.addEventListener("change", () => fromPhoto(photo, box, state));
  const photoLabel = el("label", { class: "wide" }, "Photo of the cards", photo, state);
  return { box, photoLabel, label: field("Windows: highest roll, then black, red, blue result with its dot", box, "wide"), read: () => lines(box.value).map(asWindow) };
}

const LONGEST_PX = 1600; // a window's numbers are then some 40 pixels high

/**
 * Send a photo, made smaller, and put what it shows into the box behind the rolls that stand there.
 *
 * @param {HTMLInputElement} photo
 * @param {HTMLTextAreaElement} box
 * @param {HTMLElement} state
 */
async function fromPhoto(photo, box, state) {
  const [file] = photo.files ?? [];
  if (file === undefined) return;
  state.textContent = "Reading the photo…";
  try {
    const response = await fetch("api/card-photo", { method: "POST", credentials: "same-origin", body: await smaller(file) });
    /** @type {Service.CardPhotoView & { detail?: string }} */
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.detail);
    const rolls = lines(box.value).map((line) => line.split(":")[0].trim());
    box.value = answer.lines.map((line, place) => `${rolls[place] ?? "?"}: ${line}`).join("\n");
    box.dispatchEvent(new Event("input", { bubbles: true }));
    state.textContent = [answer.unread, rolls.length === 0 && "Put each window's highest roll in place of its first ?"].filter(Boolean).join(". ");
  } catch (error) {
    state.textContent = error instanceof TypeError ? "The photo could not be sent. Try again." : messageOf(error);
  }
  photo.value = "";
}

/** A photo as a JPEG file of a size that the numbers can be read in. @param {File} file @returns {Promise<?Blob>} */
async function smaller(file) {
  let picture;
  try {
    picture = await createImageBitmap(file);
  } catch {
    throw new Error("This is no photo that can be read.");
  }
  const scale = Math.min(1, LONGEST_PX / Math.max(picture.width, picture.height));
  const canvas = el("canvas", { width: Math.round(scale * picture.width), height: Math.round(scale * picture.height) });
  context2d(canvas).drawImage(picture, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", 0.85));
}

/** @param {string} text */
const lines = (text) => text.split("\n").map((line) => line.trim()).filter(Boolean);

/** @param {string} text */
function problem(text) {
  const place = lines(text).findIndex((line) => asWindow(line) === null);
  return place < 0 ? "" : `Window ${place + 1} must look like ${EXAMPLE}`;
}

/** @param {string} line @returns {?Service.CardWindow} */
function asWindow(line) {
  const found = /^(\d{1,3})\s*:\s*([^,]+),([^,]+),([^,]+)$/.exec(line);
  if (found === null || line.includes("?")) return null; // what a photo left open
  const [black, red, blue] = found.slice(2).map(asResult);
  return { rolls_to: Number(found[1]), black, red, blue };
}

/** @param {string} text */
function asResult(text) {
  const words = text.trim().split(/\s+/);
  const dot = DOTS.find((color) => color === words.at(-1)?.toLowerCase()) ?? null;
  if (dot !== null) words.pop();
  return { shown: words.join(" "), dot };
}
