// Parts of the panel's forms: labeled inputs, and buttons that carry the request they send.

import { el, findAll } from "./dom.js";
import { SIDES, opponent } from "./format.js";
import { spotPicker } from "./spot_picker.js";

/** Value, text, and whether it can't be chosen. @typedef {[value: string, text: string, disabled?: boolean]} SelectOption */

/** @param {number} yards */
export const round = (yards) => Math.round(10 * yards) / 10;

/** @param {Declaration} body @returns {FormRequest} */
export const declaration = (body) => ({ post: "api/declarations", body: { declaration: body } });

/** Attributes of a button that sends a request. @param {Service.ChangePath} post @param {RequestBody} body */
export const requestData = (post, body) => ({ "data-post": post, "data-body": JSON.stringify(body) });

/** Attributes of a button that declares something. @param {Declaration} declaration */
export const declarationData = (declaration) => requestData("api/declarations", { declaration });

/** @param {string} label @param {Service.ChangePath} post @param {RequestBody} body @param {string} [tone] */
export const requestButton = (label, post, body, tone = "") =>
  el("button", { type: "button", class: `small ${tone}`.trim(), ...requestData(post, body) }, label);

/** @param {string} label @param {Declaration} body @param {string} [tone] */
export const declarationButton = (label, body, tone) => requestButton(label, "api/declarations", { declaration: body }, tone);

/** @param {string} label @param {string} [tone] */
export const submitButton = (label, tone = "main") => el("button", { type: "submit", class: `wide ${tone}`.trim(), "data-closes": "" }, label);

/**
 * Keep a button's request in step with its form; the button is disabled while the form is incomplete.
 *
 * @param {HTMLFormElement} form
 * @param {HTMLButtonElement} button
 * @param {() => ?FormRequest} makeRequest
 */
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

/**
 * Show some labeled inputs of a form only while a condition holds; hidden ones need not be filled in. Before `bindForm`.
 *
 * @param {HTMLFormElement} form
 * @param {HTMLElement[]} labels
 * @param {() => boolean} isShown
 */
export function showOnlyIf(form, labels, isShown) {
  const update = () => {
    for (const label of labels) {
      label.hidden = !isShown();
      for (const control of [...findAll(label, "input", HTMLInputElement), ...findAll(label, "select", HTMLSelectElement)]) control.disabled = label.hidden;
    }
  };
  form.addEventListener("input", update);
  update();
}

/** @param {string} label @param {Child} input @param {string} [wide] */
export const field = (label, input, wide = "") => el("label", { class: wide || null }, label, input);

/** @param {readonly SelectOption[]} options @param {?string} [value] @returns {HTMLSelectElement} */
export const select = (options, value = null) =>
  el("select", {}, options.map(([name, text, disabled]) => el("option", { value: name, selected: name === value, disabled }, text)));

/** @param {string} name @param {number} value @param {number} low @param {number} high @param {number} [step] */
export const number = (name, value, low, high, step = 1) =>
  el("input", { type: "number", name, value: String(value), min: low, max: high, step, required: true, inputmode: "decimal" });

/** A number that may be left empty. @param {string} name @param {number} low @param {number} high */
export const optionalNumber = (name, low, high) => el("input", { type: "number", name, min: low, max: high, step: 1, inputmode: "numeric" });

/** @param {HTMLInputElement} input */
export const optionalValue = (input) => (input.value === "" ? null : input.valueAsNumber);

/** @param {string} label */
export function checkbox(label) {
  const box = el("input", { type: "checkbox" });
  return { box, label: el("label", { class: "check wide" }, box, label) };
}

/** @param {Service.GameView | undefined} game @returns {[Side, string][]} */
export const teams = (game) => (game === undefined ? [] : SIDES.map((side) => [side, game[side].name]));

/** @param {Feed} feed @param {?string} [value] */
export const sideSelect = (feed, value = null) => select(teams(feed.value("game")), value);

/** @param {Feed} feed @param {(side: Side, name: string) => Child} build */
export const sides = (feed, build) => el("div", { class: "row" }, SIDES.map((side) => build(side, feed.value("game")?.[side].short ?? side)));

/** Seconds of a text such as "4:07"; null for any other text. @param {string} text */
export function seconds(text) {
  const found = /^(\d{1,3}):([0-5]\d)$/.exec(text.trim());
  return found === null ? null : 60 * Number(found[1]) + Number(found[2]);
}

/**
 * A spot along the field as people say it, "own 40": inputs, `x_yd()`, its yards from the left goal line, `show(x_yd)`, and
 * `turn(possession, direction)`: what is entered is then meant of another side with the ball, or of the other way.
 *
 * @param {Service.GameView | undefined} game
 * @param {number} x_yd
 * @param {number} [length_yd]
 */
export function yardLine(game, x_yd, length_yd = 100) {
  const side = select([["own", ""], ["opponent", ""]]);
  side.setAttribute("aria-label", "Whose side of the field");
  const yards = number("yards", 0, -12, length_yd / 2, 0.1);
  yards.setAttribute("aria-label", "Yard line");
  let ownLeft = true; // the side with the ball plays to the right: its own goal is the left one
  /** @param {Side} possession @param {number} direction */
  const turn = (possession, direction) => {
    ownLeft = direction === 1;
    side.options[0].textContent = `Own (${game?.[possession].short ?? ""})`;
    side.options[1].textContent = game?.[opponent(possession)].short ?? "";
  };
  /** @param {number} spot_yd */
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

/**
 * A spot on the field, by a tap on its picture or in numbers: inputs for a form, and `spot_yd()`, along and across.
 *
 * @param {Feed} feed
 * @param {[number, ?number | undefined]} spot_yd along and across; the middle where it is not known across
 */
export function fieldSpot(feed, spot_yd) {
  const field_yd = feed.value("line_up")?.field ?? { length_yd: 100, width_yd: 53.3, end_zone_yd: 10 };
  const along = yardLine(feed.value("game"), spot_yd[0], field_yd.length_yd);
  const across = number("across", round(spot_yd[1] ?? field_yd.width_yd / 2), 0, 200, 0.1);
  /** @returns {Point} */
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
