// Parts of the panel's forms: labeled inputs, and buttons that carry the request they send.

import { el } from "./dom.js";
import { spotPicker } from "./spot_picker.js";

export const round = (yards) => Math.round(10 * yards) / 10;

export const declaration = (body) => ({ post: "api/declarations", body: { declaration: body } });

export const requestButton = (label, post, body, tone = "") =>
  el("button", { type: "button", class: `small ${tone}`.trim(), "data-post": post, "data-body": JSON.stringify(body) }, label);

export const declarationButton = (label, body, tone) => requestButton(label, "api/declarations", { declaration: body }, tone);

export const submitButton = (label, tone = "main") => el("button", { type: "submit", class: `wide ${tone}`.trim(), "data-closes": "" }, label);

/** Keep a button's request in step with its form; the button is disabled while the form is incomplete. */
export function bindForm(form, button, makeRequest) {
  const update = () => {
    const request = form.checkValidity() ? makeRequest() : null;
    button.disabled = request === null;
    Object.assign(button.dataset, request === null ? {} : { post: request.post, body: JSON.stringify(request.body) });
  };
  form.addEventListener("input", update);
  form.addEventListener("submit", (event) => event.preventDefault()); // the button's click sends it
  update();
}

/** Show some labeled inputs of a form only while a condition holds; hidden ones need not be filled in. Before `bindForm`. */
export function showOnlyIf(form, labels, isShown) {
  const update = () => {
    for (const label of labels) {
      label.hidden = !isShown();
      for (const control of label.querySelectorAll("input, select")) control.disabled = label.hidden;
    }
  };
  form.addEventListener("input", update);
  update();
}

export const field = (label, input, wide = "") => el("label", { class: wide || null }, label, input);

export const select = (options, value = null) =>
  el("select", {}, options.map(([name, text, disabled]) => el("option", { value: name, selected: name === value, disabled }, text)));

export const number = (name, value, low, high, step = 1) =>
  el("input", { type: "number", name, value: String(value), min: low, max: high, step, required: true, inputmode: "decimal" });

/** A number that may be left empty. */
export const optionalNumber = (name, low, high) => el("input", { type: "number", name, min: low, max: high, step: 1, inputmode: "numeric" });

export const optionalValue = (input) => (input.value === "" ? null : input.valueAsNumber);

export function checkbox(label) {
  const box = el("input", { type: "checkbox" });
  return { box, label: el("label", { class: "check wide" }, box, label) };
}

export const teams = (game) => (game === undefined ? [] : ["home", "away"].map((side) => [side, game[side].name]));

export const sideSelect = (feed, value = null) => select(teams(feed.value("game")), value);

export const sides = (feed, build) => el("div", { class: "row" }, ["home", "away"].map((side) => build(side, feed.value("game")?.[side].short ?? side)));

/** Seconds of a text such as "4:07"; null for any other text. */
export function seconds(text) {
  const found = /^(\d{1,3}):([0-5]\d)$/.exec(text.trim());
  return found === null ? null : 60 * Number(found[1]) + Number(found[2]);
}

/**
 * A spot along the field as people say it, "own 40": inputs, `x_yd()`, its yards from the left goal line, `show(x_yd)`, and
 * `turn(possession, direction)`: what is entered is then meant of another side with the ball, or of the other way.
 */
export function yardLine(game, x_yd, length_yd = 100) {
  const side = select([["own", ""], ["opponent", ""]]);
  side.setAttribute("aria-label", "Whose side of the field");
  const yards = number("yards", 0, -12, length_yd / 2, 0.1);
  yards.setAttribute("aria-label", "Yard line");
  let ownLeft = true; // the side with the ball plays to the right: its own goal is the left one
  const turn = (possession, direction) => {
    ownLeft = direction === 1;
    side.options[0].textContent = `Own (${game?.[possession].short ?? ""})`;
    side.options[1].textContent = game?.[possession === "home" ? "away" : "home"].short ?? "";
  };
  const show = (spot_yd) => {
    const fromOwn = ownLeft ? spot_yd : length_yd - spot_yd;
    side.value = fromOwn <= length_yd / 2 ? "own" : "opponent";
    yards.value = String(round(side.value === "own" ? fromOwn : length_yd - fromOwn));
  };
  turn(game?.possession ?? "home", game?.direction ?? 1);
  show(x_yd);
  return {
    label: el("label", { class: "wide" }, "Spot", el("span", { class: "yard-line" }, side, yards)),
    inputs: [side, yards],
    x_yd: () => round((side.value === "own") === ownLeft ? yards.valueAsNumber : length_yd - yards.valueAsNumber),
    show,
    turn,
  };
}

/** A spot on the field, by a tap on its picture or in numbers: inputs for a form, and `spot_yd()`, along and across. */
export function fieldSpot(feed, spot_yd) {
  const field_yd = feed.value("line_up")?.field ?? { length_yd: 100, width_yd: 53.3, end_zone_yd: 10 };
  const along = yardLine(feed.value("game"), spot_yd[0], field_yd.length_yd);
  const across = number("across", round(spot_yd[1] ?? field_yd.width_yd / 2), 0, 200, 0.1);
  const numbers = () => [along.x_yd(), across.valueAsNumber];
  const picker = spotPicker(field_yd, (x_yd, y_yd) => {
    along.show(x_yd);
    across.value = String(round(y_yd));
    across.dispatchEvent(new Event("input", { bubbles: true }));
  });
  for (const input of [...along.inputs, across]) input.addEventListener("input", () => picker.show(...numbers()));
  picker.show(...numbers());
  return { labels: [el("div", { class: "wide" }, picker.element), along.label, field("Yards across the field", across)], spot_yd: numbers };
}
