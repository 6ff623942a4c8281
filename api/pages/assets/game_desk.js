// A game once it is over: reopened for rulings, closed again, and what happened to it.

import { el, refresh, setText } from "./dom.js";
import { storeName, storedName } from "./reviewer_name.js";
import { changesList } from "./ruling_dialog.js";
import { errorText, send } from "./send.js";

/** @typedef {import("./ruling_dialog.js").Changes} Changes */

/**
 * The section that reopens a game that is over, or closes it again.
 *
 * @param {HTMLElement} parent
 * @param {string} standing of the game
 * @param {string} path of the game
 * @param {?Changes} changes of the last ruling
 * @param {() => void} reload
 */
export function showDesk(parent, standing, path, changes, reload) {
  parent.hidden = !["ended", "reopened"].includes(standing);
  refresh(parent, [standing, changes], () => (standing === "reopened" ? closing(path, changes, reload) : reopening(path, reload)));
}

/** @param {string} path @param {() => void} reload */
function reopening(path, reload) {
  const reason = el("textarea", { name: "reason", maxlength: 500, rows: 2, required: true, placeholder: "What is in dispute" });
  return el(
    "details",
    { class: "plate" },
    el("summary", {}, "Reopen for rulings"),
    form("Reopen", [el("label", {}, "Reason", reason)], (name) => send(`${path}/reopening`, { reason: reason.value.trim(), name }), reload),
  );
}

/** @param {string} path @param {?Changes} changes @param {() => void} reload */
function closing(path, changes, reload) {
  return el(
    "div",
    { class: "plate" },
    el("p", {}, el("b", {}, "This game is open for rulings."), " Everything after a ruling is judged again. Close it when you are done."),
    changes && el("p", { class: "muted" }, "The last ruling:"),
    changes && changesList(changes),
    form("Close this game", [], (name) => send(`${path}/closing`, { name }), reload),
  );
}

/** @param {string} label @param {Child} fields @param {(name: string) => Promise<unknown>} submit @param {() => void} reload */
function form(label, fields, submit, reload) {
  const name = el("input", { name: "name", maxlength: 60, autocomplete: "name", value: storedName() });
  const problem = el("p", { class: "problem", role: "alert" });
  const button = el("button", { type: "submit" }, label);
  const element = el("form", { class: "desk-form" }, fields, el("label", {}, "Your name", name), problem, button);
  element.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    storeName(name.value);
    try {
      await submit(name.value.trim());
      reload();
    } catch (error) {
      setText(problem, errorText(error));
    } finally {
      button.disabled = false;
    }
  });
  return element;
}

/**
 * The lines of what happened to a game once it was over.
 *
 * @param {HTMLElement} section
 * @param {HTMLElement} list
 * @param {Service.AuditLine[]} lines
 */
export function showAudit(section, list, lines) {
  section.hidden = lines.length === 0;
  refresh(list, lines, () => lines.map((line) => el("li", {}, line.text, el("small", {}, [new Date(line.at_ms).toLocaleString("en-US", { dateStyle: "medium", timeStyle: "short" }), line.by].filter(Boolean).join(", ")))));
}
