// A search form that is kept in the page's address, so that what was found can be passed on.

import { findAll } from "./dom.js";

const TYPING_MS = 250;

/**
 * Fill a form from the address, and call `search()` when a field has changed.
 *
 * @param {HTMLFormElement} form
 * @param {() => void} search
 */
export function followForm(form, search) {
  const given = new URLSearchParams(location.search);
  for (const field of fieldsOf(form)) field.value = given.get(field.name) ?? field.value;
  let typing = 0;
  const changed = () => {
    clearTimeout(typing);
    history.replaceState(null, "", `?${formParameters(form, new URLSearchParams(location.search))}${location.hash}`);
    search();
  };
  form.addEventListener("change", changed);
  form.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(changed, TYPING_MS);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    changed();
  });
}

/** The form's fields that have a name. @param {HTMLFormElement} form @returns {(HTMLInputElement | HTMLSelectElement)[]} */
const fieldsOf = (form) => [...findAll(form, "input[name]", HTMLInputElement), ...findAll(form, "select[name]", HTMLSelectElement)];

/**
 * Parameters with the form's fields in place of those of the same name; empty fields are left out.
 *
 * @param {HTMLFormElement} form
 * @param {URLSearchParams} [parameters]
 */
export function formParameters(form, parameters = new URLSearchParams()) {
  for (const field of fieldsOf(form)) {
    parameters.delete(field.name);
    const value = field.value.trim();
    if (value) parameters.set(field.name, value);
  }
  return parameters;
}
