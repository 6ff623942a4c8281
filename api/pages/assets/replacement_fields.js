// What is called instead of a call that is overturned: its kind, whom it favors, where the ball is spotted, in words.

import { kindOptions, kindText } from "./call_kinds.js";
import { el } from "./dom.js";

const LOWEST_YD = -30;
const HIGHEST_YD = 230;

/** Fields of a call that replaces another. */
export class ReplacementFields {
  /**
   * @param {Service.CallRequest} call that is overturned
   * @param {Teams} teams
   */
  constructor(call, teams) {
    this.call = call;
    this.teams = teams;
    this.kind = select("instead", [["", "No call"], ...kindOptions(call.kind)], "");
    this.side = select("instead-side", [["", "Neither team"], ["away", teams.away], ["home", teams.home]], call.side ?? "");
    const [along, across] = call.spot_yd ?? [null, null];
    this.along = yards("instead-along", along);
    this.across = yards("instead-across", across);
    this.text = el("input", { name: "instead-text", maxlength: 200, autocomplete: "off" });
    this.more = el(
      "div",
      { class: "pair", hidden: true },
      el("label", {}, "In favor of", this.side),
      el("label", {}, "In words", this.text),
      el("label", {}, "Spot: yards from the left goal line", this.along),
      el("label", {}, "Spot: yards across the field", this.across),
      el("p", { class: "muted" }, "Left is left in the camera's picture. Leave both empty where this call does not move the ball."),
    );
    this.element = el("div", { class: "replacement", hidden: true }, el("label", {}, "Called instead", this.kind), this.more);
    this.element.addEventListener("change", () => this.#update());
    this.#update();
  }

  /** Show the fields, or hide them where nothing is replaced. @param {boolean} isShown */
  show(isShown) {
    this.element.hidden = !isShown;
    this.#update();
  }

  /** Whether what is filled in can be sent: a spot has both of its numbers, on the field or near it. */
  get isSound() {
    return this.element.hidden || [this.along, this.across].every((field) => field.checkValidity());
  }

  /** The call as the service expects it; null for no call. @returns {?Service.CallRequest} */
  get value() {
    if (this.element.hidden || this.kind.value === "") return null;
    const same = this.kind.value === this.call.kind;
    /** @type {?Point} */
    const spot_yd = this.along.value === "" || this.across.value === "" ? null : [this.along.valueAsNumber, this.across.valueAsNumber];
    return {
      kind: /** @type {Service.CallRequest["kind"]} */ (this.kind.value),
      text: this.text.value.trim() || this.text.placeholder,
      side: /** @type {Side | ""} */ (this.side.value) || null,
      spot_yd,
      players: this.call.players ?? [],
      detail: same ? (this.call.detail ?? "") : "",
    };
  }

  #update() {
    this.more.hidden = this.element.hidden || this.kind.value === "";
    this.text.placeholder = this.kind.value === "" ? "" : kindText(this.kind.value, this.side.value === "" ? "" : this.teams[/** @type {Side} */ (this.side.value)]);
    // One coordinate alone is no spot: the other is required then.
    this.along.required = this.across.value !== "" && !this.more.hidden;
    this.across.required = this.along.value !== "" && !this.more.hidden;
  }
}

/** @param {string} name @param {import("./panel_fields.js").SelectOption[]} options @param {string} value */
function select(name, options, value) {
  const element = el("select", { name }, options.map(([option, text]) => el("option", { value: option }, text)));
  element.value = value;
  return element;
}

/** @param {string} name @param {?number} value */
const yards = (name, value) => el("input", { name, type: "number", inputmode: "decimal", step: 0.1, min: LOWEST_YD, max: HIGHEST_YD, value: value === null ? null : Math.round(10 * value) / 10 });
