// Saving a clip that the rig makes, under the name the rig gives it.

import { el } from "./dom.js";
import { capitalize } from "./format.js";
import { NoResponseError, RefusedError, errorText, fetchOnce } from "./send.js";

/**
 * A button that saves a clip.
 *
 * @param {string} label
 * @param {() => string} path of the clip, when the button is pressed
 * @param {(sentence: string) => void} showMessage shows a sentence, "" for none
 * @param {Record<string, string>} [attributes] more of the button
 */
export function clipButton(label, path, showMessage, attributes = {}) {
  return el("button", { type: "button", class: "small", ...attributes, onclick: ({ currentTarget }) => saveClip(currentTarget, path(), showMessage) }, label);
}

/** @param {HTMLButtonElement} button @param {string} path @param {ShowMessage} showMessage */
async function saveClip(button, path, showMessage) {
  if (button.getAttribute("aria-busy") === "true") return;
  button.setAttribute("aria-busy", "true");
  showMessage("The rig is making the clip…");
  try {
    const response = await fetchOnce(path);
    if (!response.ok) throw new RefusedError({ detail: "The clip can't be made.", ...(await response.json().catch(() => ({}))) });
    const name = /filename="([^"]+)"/.exec(response.headers.get("content-disposition") ?? "")?.[1] ?? "downfield-clip";
    saveFile(await readBlob(response), name);
    showMessage("");
  } catch (error) {
    showMessage(capitalize(errorText(error)));
  } finally {
    button.removeAttribute("aria-busy");
  }
}

/** What a response holds; it may break off on the way. @param {Response} response */
async function readBlob(response) {
  try {
    return await response.blob();
  } catch {
    throw new NoResponseError(null);
  }
}

/** Save a file from memory. @param {Blob} blob @param {string} name */
export function saveFile(blob, name) {
  const url = URL.createObjectURL(blob);
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
