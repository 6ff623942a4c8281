// What was entered on the set-up page but not sent yet, kept while its tab is open: a reload or the back button loses nothing.

import { findAll } from "./dom.js";
import { newKey } from "./send.js";

const DRAFT = "downfield.setup.draft";
const DEVICE = "downfield.setup.device";

/**
 * What was entered: the fields, and the places, corners and ends that were moved, for the solution they belong to.
 *
 * @typedef {object} Draft
 * @property {Record<string, string>} [fields]
 * @property {?string} [placedFor]
 * @property {Pick<import("./setup_marks.js").Mark, "name" | "px" | "moved" | "shown">[]} [places]
 * @property {?Point[]} [corners]
 * @property {Point[]} [lengthEnds]
 * @property {Point[]} [standingEnds]
 */

/** @typedef {HTMLInputElement | HTMLSelectElement} Field */

/** What was kept; empty if nothing was, or if the browser keeps nothing. @returns {Draft} */
export function loadDraft() {
  try {
    return JSON.parse(sessionStorage.getItem(DRAFT) ?? "null") ?? {};
  } catch {
    return {};
  }
}

/** Keep something in place of what was kept; null to keep nothing. @param {?Draft} draft */
export function keepDraft(draft) {
  try {
    if (draft === null) sessionStorage.removeItem(DRAFT);
    else sessionStorage.setItem(DRAFT, JSON.stringify(draft));
  } catch {
    // The browser keeps nothing, so a reload starts from the beginning.
  }
}

/** A random id of this page, to distinguish it from the same page on other devices; the same after a reload. */
export function deviceName() {
  const made = newKey();
  try {
    const kept = sessionStorage.getItem(DEVICE) ?? made;
    sessionStorage.setItem(DEVICE, kept);
    return kept;
  } catch {
    return made;
  }
}

/** The values of fields by their ids or names, without those that are empty. @param {ParentNode} root @returns {Record<string, string>} */
export function readFields(root) {
  const fields = fieldsIn(root).filter(({ value }) => value !== "");
  return Object.fromEntries(fields.map((field) => [fieldKey(field), field.value]));
}

/** Enter values that `readFields` returned. @param {ParentNode} root @param {Record<string, string>} values */
export function fillFields(root, values) {
  for (const field of fieldsIn(root)) {
    const value = values[fieldKey(field)];
    const offered = field instanceof HTMLInputElement || [...field.options].some((option) => option.value === value);
    if (value !== undefined && offered) field.value = value;
  }
}

/** @param {Field} field */
const fieldKey = (field) => field.id || `${field.form?.id}.${field.name}`;

/** @param {ParentNode} root @returns {Field[]} */
const fieldsIn = (root) => [...findAll(root, "input", HTMLInputElement), ...findAll(root, "select", HTMLSelectElement)];
