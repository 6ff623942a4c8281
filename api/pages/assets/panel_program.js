// How the program looks: its view, what is painted on the board, whose tags float over it, the colors of the paint.

import { el } from "./dom.js";
import { bindForm, checkbox, field, select, submitButton } from "./panel_fields.js";
import { errorText, read } from "./send.js";

/** @typedef {import("./panel_fields.js").SelectOption} SelectOption */

/** @type {SelectOption[]} */
const VIEWS = [["camera", "As the camera sees it"], ["field", "From straight above"]];
/** @type {SelectOption[]} */
const TAGS = [["carrier", "The ball carrier's"], ["all", "Everybody's"], ["off", "None"]];
/** @type {SelectOption[]} */
const THEMES = [["broadcast", "Broadcast"], ["chalk", "Chalk"], ["contrast", "High contrast"]];

/** What can be painted, what lies lowest first. @type {[Service.ProgramOptions["elements"][number], string][]} */
const ELEMENTS = [
  ["red_zone", "The red zone"],
  ["drive", "The drive so far"],
  ["scrimmage", "The line of scrimmage"],
  ["to_gain", "The line to gain"],
  ["trails", "The carrier's way"],
  ["carrier", "A ring around the carrier"],
];

/** Fill a section with the form, once what is shown now is known. @param {HTMLElement} body */
export async function programForm(body) {
  /** @param {string} text */
  const say = (text) => body.replaceChildren(el("p", { class: "muted" }, text));
  try {
    body.replaceChildren(formOf(await read("api/program", say)));
  } catch (error) {
    say(errorText(error)); // such as without a camera
  }
}

/** @param {Service.ProgramOptions} now */
function formOf(now) {
  const [view, tags, theme] = [select(VIEWS, now.view), select(TAGS, now.tags), select(THEMES, now.theme)];
  const boxes = ELEMENTS.map(([name, words]) => {
    const { box, label } = checkbox(words);
    box.checked = now.elements.includes(name);
    return { name, box, label };
  });
  const save = submitButton("Use it on air");
  delete save.dataset.closes; // what is seen in the form stays to be changed
  save.dataset.method = "PUT";
  const form = el(
    "form",
    { class: "grid" },
    field("View", view, "wide"),
    el("fieldset", { class: "wide" }, el("legend", {}, "Painted on the board"), boxes.map(({ label }) => label)),
    field("Name tags", tags, "wide"),
    field("Colors", theme, "wide"),
    save,
  );
  bindForm(form, save, () => ({
    post: "api/program",
    body: { view: view.value, tags: tags.value, theme: theme.value, elements: boxes.filter(({ box }) => box.checked).map(({ name }) => name) },
  }));
  return form;
}
