// What is called instead of a call that is overturned: its kind, whom it favors, where the ball is spotted, in words.

import { kindOptions, kindText } from "./call_kinds.js";
import { el } from "./dom.js";

const SPOT_PATTERN = "(.*\\S\\s+)?-?\\d+(\\.\\d+)?|.+ end zone";
const MEN_PATTERN = "(dark|light)[ \\-]\\d+";

/** Kinds of calls that end a play where the ball then is. */
const ENDINGS = new Set(["tackle", "sack", "down_by_fall", "out_of_bounds", "stopped"]);
/** Those of them that somebody makes. */
const MADE = new Set(["tackle", "sack"]);

/** Whether a call that is overturned leaves open where the play ended. @param {{ kind: string }} call */
export const endsPlay = ({ kind }) => ENDINGS.has(kind);

/** A call as a page or a person has it. @typedef {Service.CallRequest & { spot_text?: string }} Overturned */

/** A spot as people say it: a team and its yard line. @param {string} name @param {Overturned} call */
const spotInput = (name, call) =>
  el("input", { name, value: call.spot_text || null, maxlength: 40, pattern: SPOT_PATTERN, placeholder: "H 44, A 44 or 50", title: "A team and its yard line, such as H 44 or A 44, or 50", autocomplete: "off", autocapitalize: "characters" });

/** @param {HTMLInputElement} input @param {Overturned} call */
function spotOf(input, call) {
  const spot = input.value.trim();
  return spot === (call.spot_text ?? "") ? { spot_yd: call.spot_yd ?? null } : { spot_yd: null, spot };
}

/** @param {string} name */
const manInput = (name) => el("input", { name, maxlength: 20, pattern: MEN_PATTERN, placeholder: "light 54", title: "A jersey and a number, such as light 54", autocomplete: "off" });

/** The figures of a play's new end: its carrier, and who made it. @param {Overturned} call @param {HTMLInputElement} man */
function menOf(call, man) {
  const maker = man.value.trim().toLowerCase().replace(" ", "-");
  return maker === "" ? (call.players ?? []) : [...(call.players ?? []).slice(0, 1), maker];
}

/**
 * Where a play ended instead, and who made it: asked before a tackle or another end of a play is overturned.
 *
 * @param {Overturned & { id: string }} call
 * @param {(label: string, replacement: ?Service.CallRequest) => HTMLButtonElement} button that overturns it
 */
export function endedElsewhere(call, button) {
  const [spot, man] = [spotInput("ended-at", call), manInput("made-by")];
  const send = button("It ended there", null);
  const text = () => `${kindText(call.kind)}${spot.value.trim() && ` at ${spot.value.trim()}`}${man.value.trim() && `, by ${man.value.trim()}`}`;
  /** @returns {Service.CallRequest} */
  const replacement = () => ({ kind: call.kind, text: text(), side: call.side, players: menOf(call, man), detail: call.detail ?? "", ...spotOf(spot, call) });
  const form = el(
    "form",
    { class: "grid ended-elsewhere" },
    el("label", {}, "Where did the play end?", spot),
    MADE.has(call.kind) && el("label", {}, "Who made it?", man),
    send,
    button("The play went on", null),
  );
  const update = () => {
    send.disabled = !form.checkValidity() || (spot.value.trim() === (call.spot_text ?? "") && man.value.trim() === "");
    send.dataset.body = JSON.stringify({ decision: "overturn", replacement: replacement(), note: "" });
  };
  form.addEventListener("input", update);
  form.addEventListener("submit", (event) => event.preventDefault());
  update();
  return el("details", { class: "overturn" }, el("summary", { class: "button small warn" }, "Overturn"), form);
}

/** Fields of a call that replaces another. */
export class ReplacementFields {
  /**
   * @param {Overturned} call that is overturned
   * @param {Teams} teams
   */
  constructor(call, teams) {
    this.call = call;
    this.teams = teams;
    this.kind = select("instead", [["", "No call"], ...kindOptions(call.kind)], endsPlay(call) ? call.kind : "");
    this.side = select("instead-side", [["", "Neither team"], ["away", teams.away], ["home", teams.home]], call.side ?? "");
    this.spot = spotInput("instead-spot", call);
    this.man = manInput("instead-by");
    this.text = el("input", { name: "instead-text", maxlength: 200, autocomplete: "off" });
    this.by = el("label", {}, "Who made it", this.man);
    this.more = el(
      "div",
      { class: "pair", hidden: true },
      el("label", {}, "In favor of", this.side),
      el("label", {}, "In words", this.text),
      el("label", {}, "Where the ball was", this.spot),
      this.by,
      el("p", { class: "muted" }, "Leave the place empty where this call does not move the ball."),
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

  /** Whether what is filled in can be sent: a place and a figure as they are written. */
  get isSound() {
    return this.element.hidden || [this.spot, this.man].every((field) => field.checkValidity());
  }

  /** The call as the service expects it; null for no call. @returns {?Service.CallRequest} */
  get value() {
    if (this.element.hidden || this.kind.value === "") return null;
    const same = this.kind.value === this.call.kind;
    return {
      kind: /** @type {Service.CallRequest["kind"]} */ (this.kind.value),
      text: this.text.value.trim() || this.text.placeholder,
      side: /** @type {Side | ""} */ (this.side.value) || null,
      players: this.by.hidden ? (this.call.players ?? []) : menOf(this.call, this.man),
      detail: same ? (this.call.detail ?? "") : "",
      ...spotOf(this.spot, this.call),
    };
  }

  #update() {
    this.more.hidden = this.element.hidden || this.kind.value === "";
    this.by.hidden = !MADE.has(this.kind.value);
    this.text.placeholder = this.kind.value === "" ? "" : kindText(this.kind.value, this.side.value === "" ? "" : this.teams[/** @type {Side} */ (this.side.value)]);
  }
}

/** @param {string} name @param {import("./panel_fields.js").SelectOption[]} options @param {string} value */
function select(name, options, value) {
  const element = el("select", { name }, options.map(([option, text]) => el("option", { value: option }, text)));
  element.value = value;
  return element;
}
