// The name that a person entered last on this device.

const KEY = "downfield-reviewer";

/** The name; empty when none was entered. */
export const storedName = () => localStorage.getItem(KEY) ?? "";

/** Keep a name for the next time. @param {string} name */
export const storeName = (name) => localStorage.setItem(KEY, name.trim());
