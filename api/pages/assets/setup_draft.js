// What was entered on the set-up page but not sent yet, kept while its tab is open: a reload or the back button loses nothing.

import { newKey } from "./send.js";

const DRAFT = "downfield.setup.draft";
const DEVICE = "downfield.setup.device";

/** What was kept; empty if nothing was, or if the browser keeps nothing. */
export function loadDraft() {
  try {
    return JSON.parse(sessionStorage.getItem(DRAFT)) ?? {};
  } catch {
    return {};
  }
}

/** Keep something in place of what was kept; null to keep nothing. */
export function keepDraft(draft) {
  try {
    if (draft === null) sessionStorage.removeItem(DRAFT);
    else sessionStorage.setItem(DRAFT, JSON.stringify(draft));
  } catch {
    // The browser keeps nothing, so a reload begins anew.
  }
}

/** A name by which the rig tells this page from the same one on other devices; the same after a reload. */
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

/** The values of fields by their ids or names, without those that are empty. */
export function readFields(root) {
  const fields = [...root.querySelectorAll("input, select")].filter(({ value }) => value !== "");
  return Object.fromEntries(fields.map((field) => [fieldKey(field), field.value]));
}

/** Enter values that `readFields` returned. */
export function fillFields(root, values) {
  for (const field of root.querySelectorAll("input, select")) {
    const value = values?.[fieldKey(field)];
    const offered = field.options === undefined || [...field.options].some((option) => option.value === value);
    if (value !== undefined && offered) field.value = value;
  }
}

const fieldKey = (field) => field.id || `${field.form?.id}.${field.name}`;
