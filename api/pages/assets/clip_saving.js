// Saving a clip that the rig makes, under the name the rig gives it.

import { el } from "./dom.js";
import { capitalize } from "./format.js";

/**
 * A button that saves a clip.
 *
 * @param {string} label
 * @param {() => string} path of the clip, when the button is pressed
 * @param {(sentence: string) => void} tell shows a sentence, "" for none
 * @param {object} attributes more of the button
 */
export function clipButton(label, path, tell, attributes = {}) {
  return el("button", { type: "button", class: "small", ...attributes, onclick: ({ currentTarget }) => saveClip(currentTarget, path(), tell) }, label);
}

async function saveClip(button, path, tell) {
  if (button.getAttribute("aria-busy") === "true") return;
  button.setAttribute("aria-busy", "true");
  tell("The rig is making the clip…");
  try {
    const response = await fetch(path, { credentials: "same-origin" });
    if (!response.ok) throw new Error((await response.json().catch(() => ({}))).detail ?? "The clip can't be made.");
    const name = /filename="([^"]+)"/.exec(response.headers.get("content-disposition") ?? "")?.[1] ?? "downfield-clip";
    saveFile(await response.blob(), name);
    tell("");
  } catch (error) {
    tell(error instanceof TypeError ? "The rig does not answer. Try again." : capitalize(error.message));
  } finally {
    button.removeAttribute("aria-busy");
  }
}

/** Save a file from memory. */
export function saveFile(blob, name) {
  const url = URL.createObjectURL(blob);
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
