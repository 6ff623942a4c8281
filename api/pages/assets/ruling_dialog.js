// A dialog that rules on a call of a finished game: it says what would change before anything is written.

import { around, el, fieldText, setText } from "./dom.js";
import { capitalize, formatCallText } from "./format.js";
import { storeName, storedName } from "./reviewer_name.js";
import { ReplacementFields } from "./replacement_fields.js";
import { errorText, sendAndWait } from "./send.js";

/** What a ruling has changed or would change. @typedef {Pick<Service.GameChanges, "lines" | "note">} Changes */

const CHOICES = [["confirm", "Confirm"], ["overturn", "Overturn"], ["strike", "Remove"]];

/** What has changed or would change, as a list. @param {Changes} changes */
export const changesList = (changes) =>
  el("ul", { class: "changes" }, (changes.lines.length > 0 ? changes.lines : ["Nothing else changes."]).map((line) => el("li", {}, capitalize(line))), changes.note && el("li", { class: "muted" }, changes.note));

/**
 * Ask for a ruling on a call, and send it.
 *
 * @param {HTMLDialogElement} dialog
 * @param {string} path of the call's rulings
 * @param {Service.CallView} call
 * @param {Teams} teams their names, {home, away}
 * @param {(changes: Changes) => void} done called once it is in the journal
 */
export function openRulingDialog(dialog, path, call, teams, done) {
  const name = el("input", { name: "name", maxlength: 60, autocomplete: "name", value: storedName() });
  const note = el("textarea", { name: "note", maxlength: 500, rows: 2, required: true });
  const instead = new ReplacementFields(call, teams);
  const preview = el("div", { role: "status" });
  const problem = el("p", { class: "problem", role: "alert" });
  const rule = el("button", { type: "submit", class: "main" }, "Make this ruling");
  const radios = CHOICES.map(([value, label]) => el("label", {}, el("input", { type: "radio", name: "decision", value, required: true }), label));
  const form = el(
    "form",
    { method: "dialog" },
    el("h2", { id: "ruling-title" }, capitalize(formatCallText(call.text))),
    el("div", { class: "choices", role: "radiogroup", "aria-label": "Decision" }, radios),
    instead.element,
    preview,
    el("label", {}, "Reason", note),
    el("label", {}, "Your name", name),
    problem,
    el("div", { class: "row" }, rule, el("button", { type: "button", onclick: () => dialog.close() }, "Cancel")),
  );
  const body = () => {
    const decision = fieldText(form, "decision");
    return { decision, replacement: decision === "overturn" ? instead.value : null, note: note.value.trim(), name: name.value.trim() };
  };
  let latest = 0;
  const showPreview = async () => {
    const decision = fieldText(form, "decision");
    instead.show(decision === "overturn");
    if (!decision || !instead.isSound) return;
    const request = ++latest;
    setText(problem, "");
    preview.replaceChildren(el("p", { class: "muted" }, "Judging the game again…"));
    try {
      const changes = await sendAndWait(`${path}?preview=true`, body(), () => dialog.open && request === latest);
      if (request === latest) preview.replaceChildren(changesList(changes));
    } catch (error) {
      if (request === latest) preview.replaceChildren(el("p", { class: "problem" }, errorText(error)));
    }
  };
  form.addEventListener("change", (event) => {
    const field = around(event, "input, select");
    if (field?.getAttribute("name") === "decision" || instead.element.contains(field)) showPreview();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    rule.setAttribute("aria-busy", "true");
    rule.disabled = true;
    storeName(name.value);
    try {
      done(await sendAndWait(path, body(), (text) => setText(problem, text)));
      dialog.close();
    } catch (error) {
      setText(problem, errorText(error));
    } finally {
      rule.removeAttribute("aria-busy");
      rule.disabled = false;
    }
  });
  dialog.replaceChildren(form);
  dialog.showModal();
}
