// The sponsors' logos on the stream: which, how long each, and whether they are shown now.

import { el } from "./dom.js";
import { bindForm, checkbox, field, number, submitButton } from "./panel_fields.js";
import { logoField } from "./panel_logo.js";

const MOST = 24;

/** @param {Feed} feed */
export function sponsorForm(feed) {
  const now = feed.value("sponsors") ?? { shown: true, logos: [], seconds: 10 };
  const { box, label } = checkbox("Show the sponsors");
  box.checked = now.shown;
  const seconds = number("seconds", now.seconds, 2, 600);
  /** @type {ReturnType<typeof logoField>[]} */
  const fields = [];
  const list = el("div", { class: "grid wide" });
  /** @param {?string} logo */
  const add = (logo) => {
    const field = logoField(`Logo of sponsor ${fields.length + 1}`, logo);
    fields.push(field);
    list.append(field.element);
  };
  for (const logo of [...now.logos, ...(now.logos.length < MOST ? [null] : [])]) add(logo);
  list.addEventListener("input", () => {
    if (fields.length < MOST && fields.at(-1)?.input.value !== null) add(null); // always one more to fill
  });
  const save = submitButton("Save the sponsors");
  delete save.dataset.closes; // what is seen in the form stays to be changed
  save.dataset.method = "PUT";
  const form = el("form", { class: "grid" }, label, list, field("Seconds each", seconds, "wide"), save);
  bindForm(form, save, () => ({
    post: "api/sponsors",
    body: { shown: box.checked, seconds: seconds.valueAsNumber, logos: fields.map(({ input }) => input.value).filter(Boolean) },
  }));
  return form;
}
