// Calls with their margin, clause and details, and the buttons to rule on them.

import { callWords, conditionSureness } from "./call_words.js";
import { challengeButton } from "./challenges.js";
import { el } from "./dom.js";
import { gauge } from "./gauge.js";
import { endedElsewhere, endsPlay } from "./replacement_fields.js";
import { capitalize, formatCallText, formatPercent, formatRuling, formatTime, formatVerdict } from "./format.js";

/**
 * A call in the list.
 *
 * @param {Service.CallView & { latest: boolean }} call `latest`: its buttons are shown without opening it
 * @param {HTMLElement} item
 */
export function callItem(call, item) {
  item.className = `call ${call.verdict} ${call.standing}`;
  const buttons = call.standing === "open" ? [] : rulingButtons(call); // an open call has a card with its buttons
  return [
    callHead(call),
    call.latest && buttons.length > 0 && el("div", { class: "row" }, buttons),
    el("details", {}, el("summary", {}, "Details"), callDetails(call), el("div", { class: "row" }, framesLink(call), call.frame !== null && replayButton(call), challengeButton("current", call), !call.latest && buttons)),
  ];
}

/** A call in a few lines: verdict, text, what was measured, clauses. @param {Service.CallView} call */
export function callHead(call) {
  const isGone = ["overturned", "struck", "withdrawn"].includes(call.standing);
  const sure = !isGone && !call.words && call.probability < 1 && `${formatPercent(call.probability)} sure`;
  const facts = [sure, call.clauses.map((clause) => clause.id).join(", ")];
  const text = capitalize(formatCallText(call.text));
  return [
    el("p", { class: "tag" }, capitalize(formatVerdict(call)), call.standing === "open" && " · needs your ruling"),
    call.ruling && el("p", { class: "ruled" }, formatRuling(call.ruling)),
    el("p", { class: "text" }, isGone ? el("s", {}, text) : text),
    ...(isGone ? [] : callWords(call)), // what was measured speaks for a call that no longer counts
    el("p", { class: "facts" }, facts.filter(Boolean).join(" · ")),
  ];
}

/**
 * The details of a call: the measurement, drawn unless it is elsewhere, both readings, the clauses, the time, the ruling.
 *
 * @param {Service.CallView} call
 * @param {boolean} [drawn]
 */
export function callDetails(call, drawn = true) {
  return el(
    "div",
    { class: "details" },
    drawn && gauge(call),
    measurement(call),
    call.conditions.map(conditionPart),
    call.readings.length > 0 && el("ul", { class: "readings" }, call.readings.map((reading) => el("li", {}, el("b", {}, formatPercent(reading.probability)), ` ${formatCallText(reading.text)}`))),
    call.clauses.map((clause) => el("p", {}, el("b", {}, clause.id), clause.text ? ` ${clause.text}` : "")),
    el("p", { class: "muted" }, [formatTime(call.t_ns), call.frame !== null && `called at frame ${call.frame}`, call.spot_text && `at ${call.spot_text}`].filter(Boolean).join(", ")),
  );
}

/**
 * One of several things measured that a call rests on: its name, how sure it is, its drawing and its number.
 *
 * @param {Service.ConditionView} condition
 */
const conditionPart = (condition) =>
  el("div", { class: "condition" }, el("p", {}, el("b", {}, `${capitalize(condition.name)}: `), conditionSureness(condition)), gauge(condition), measurement(condition));

/** @type {Partial<Record<Measured["basis"], string>>} */
const BASES = { frame: " measured in the frame that showed it", history: " by all frames up to the call" };

/** The number behind the words, and that of the frame that showed it where the call rests on more. @param {Measured} call */
function measurement(call) {
  const number = call.measured;
  if (!number && !call.frame_measured) return null;
  return el(
    "p",
    {},
    number && el("b", {}, number),
    number && BASES[call.basis],
    call.frame_measured && `${number ? "; " : ""}the frame that showed it, alone: ${call.frame_measured}`,
  );
}

/** A link to the frames it was made from. @param {Service.CallView} call */
export function framesLink(call) {
  return el("a", { class: "button small", "aria-label": `Frames: ${formatCallText(call.text)}`, href: `evidence?call=${encodeURIComponent(call.id)}` }, "Frames");
}

/** A button that puts the replay of a call on the stream's overlay. @param {Service.CallView} call */
const replayButton = (call) =>
  el(
    "button",
    { type: "button", class: "small", "aria-label": `Replay on the stream: ${formatCallText(call.text)}`, "data-post": "api/replay", "data-body": JSON.stringify({ call: call.id }) },
    "Replay",
  );

/** The buttons for a call that stands. @param {Service.CallView} call */
export function rulingButtons(call) {
  if (call.ruling) return [undoButton(call.ruling)];
  if (call.standing === "noted") return [];
  const overturn = endsPlay(call)
    ? endedElsewhere(call, (label, replacement) => rulingButton(call, "overturn", label, "warn", replacement))
    : rulingButton(call, "overturn", "Overturn", "warn");
  return [rulingButton(call, "confirm", "Confirm"), overturn, rulingButton(call, "strike", "Remove this call")];
}

/** @param {Service.CallView} call */
export const rulingPath = (call) => /** @type {const} */ (`api/calls/${encodeURIComponent(call.id)}/rulings`);

/** @param {Service.RulingRequest["decision"]} decision @param {?Service.CallRequest} [replacement] */
export const rulingBody = (decision, replacement = null) => ({ decision, replacement, note: "" });

/**
 * A button that rules on a call.
 *
 * @param {Service.CallView} call
 * @param {Service.RulingRequest["decision"]} decision
 * @param {string} label
 * @param {string} [tone]
 * @param {?Service.CallRequest} [replacement]
 */
export function rulingButton(call, decision, label, tone = "", replacement = null) {
  return el(
    "button",
    {
      type: "button",
      class: `small ${tone}`.trim(),
      "aria-label": `${label}: ${formatCallText(call.text)}`,
      "data-post": rulingPath(call),
      "data-body": JSON.stringify(rulingBody(decision, replacement)),
    },
    label,
  );
}

/** @param {Service.RulingView} ruling */
function undoButton(ruling) {
  return el(
    "button",
    { type: "button", class: "small", "data-post": `api/events/${encodeURIComponent(ruling.event)}/undo`, "data-body": "{}" },
    "Undo this ruling",
  );
}
