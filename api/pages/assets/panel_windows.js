// The windows of two cards as text, a line for each: the highest roll it is for, then its black, red and blue result, each with
// the dot beside it, such as "20: -2 black, 3 red, 5 blue". A photo of the cards fills in the results; the rolls stay as they are.

import { el } from "./dom.js";
import { field } from "./panel_fields.js";

const DOTS = ["black", "red", "blue"];
const EXAMPLE = "20: -2 black, 3 red, 5 blue";

/** A field for the windows; `read()` returns them, `[]` where it is empty. A line that is no window makes the field invalid. */
export function windowsField() {
  const box = el("textarea", { rows: 5, placeholder: EXAMPLE, spellcheck: false });
  box.addEventListener("input", () => box.setCustomValidity(problem(box.value)));
  const said = el("small", { role: "status" });
  const photo = el("input", { type: "file", accept: "image/*", capture: "environment" });
  photo.addEventListener("change", () => fromPhoto(photo, box, said));
  const photoLabel = el("label", { class: "wide" }, "Photo of the cards", photo, said);
  return { box, photoLabel, label: field("Windows: highest roll, then black, red, blue result with its dot", box, "wide"), read: () => lines(box.value).map(asWindow) };
}

const LONGEST_PX = 1600; // a window's numbers are then some 40 pixels high

/** Send a photo, made smaller, and put what it shows into the box behind the rolls that stand there. */
async function fromPhoto(photo, box, said) {
  const [file] = photo.files;
  if (file === undefined) return;
  said.textContent = "Reading the photo…";
  try {
    const response = await fetch("api/card-photo", { method: "POST", credentials: "same-origin", body: await smaller(file) });
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.detail);
    const rolls = lines(box.value).map((line) => line.split(":")[0].trim());
    box.value = answer.lines.map((line, place) => `${rolls[place] ?? "?"}: ${line}`).join("\n");
    box.dispatchEvent(new Event("input", { bubbles: true }));
    said.textContent = [answer.unread, rolls.length === 0 && "Put each window's highest roll in place of its first ?"].filter(Boolean).join(". ");
  } catch (error) {
    said.textContent = error instanceof TypeError ? "The photo could not be sent. Try again." : error.message;
  }
  photo.value = "";
}

/** A photo as a JPEG file of a size that the numbers can be read in. */
async function smaller(file) {
  let picture;
  try {
    picture = await createImageBitmap(file);
  } catch {
    throw new Error("This is no photo that can be read.");
  }
  const scale = Math.min(1, LONGEST_PX / Math.max(picture.width, picture.height));
  const canvas = el("canvas", { width: Math.round(scale * picture.width), height: Math.round(scale * picture.height) });
  canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", 0.85));
}

const lines = (text) => text.split("\n").map((line) => line.trim()).filter(Boolean);

function problem(text) {
  const place = lines(text).findIndex((line) => asWindow(line) === null);
  return place < 0 ? "" : `Window ${place + 1} must look like ${EXAMPLE}`;
}

function asWindow(line) {
  const found = /^(\d{1,3})\s*:\s*([^,]+),([^,]+),([^,]+)$/.exec(line);
  if (found === null || line.includes("?")) return null; // what a photo left open
  const [black, red, blue] = found.slice(2).map(asResult);
  return { rolls_to: Number(found[1]), black, red, blue };
}

function asResult(text) {
  const words = text.trim().split(/\s+/);
  const dot = DOTS.includes(words.at(-1).toLowerCase()) ? words.pop().toLowerCase() : null;
  return { shown: words.join(" "), dot };
}
