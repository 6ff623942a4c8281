// Questions that wait for a person: a close call, dice, a coin, a coach's choice. Each is a card with its answers.

import { childrenOf, el } from "./dom.js";
import { gauge } from "./gauge.js";
import { capitalize, formatCallText, formatPercent, humanize } from "./format.js";
import { callDetails, callHead, framesLink, rulingBody, rulingButton, rulingPath } from "./panel_calls.js";
import { diceDue } from "./panel_legal.js";

/**
 * A question as it is shown. `dice`: those due; `instead`: why they can't be entered; `named`: for each choice the sides one of which it
 * must name.
 *
 * @typedef {Service.Question & { dice: ?Service.DiceDue, instead: string, named: Side[][] }} Question
 */

/** The open calls of one play, as one question. @typedef {{ id: string, kind: "rulings", calls: Service.CallView[] }} Rulings */

/** Takes the dice as far as they are entered, null while they are not complete, and whether their sum is shown. @typedef {(values: ?number[], showSum: boolean) => void} Update */

const ENTER_DICE = "Enter the dice in the order rolled";

/** Height of a page on which the details of a question are open. */
const ROOMY_PX = 700;

/** Calls closer together than this are of one play. */
const PLAY_NS = 10_000_000_000;

/** Questions with the open calls of one play as one question. @param {Question[]} questions @returns {(Question | Rulings)[]} */
export function mergeRulings(questions) {
  /** @type {(Question | Rulings)[]} */
  const merged = [];
  for (const question of questions) {
    const last = merged.at(-1);
    const calls = last === undefined ? [] : callsOf(last);
    const before = calls.at(-1);
    const together = question.kind === "ruling" && question.call !== null && before !== undefined && Math.abs(question.call.t_ns - before.t_ns) < PLAY_NS;
    if (!together || last === undefined) merged.push(question);
    else merged[merged.length - 1] = { id: last.kind === "rulings" ? last.id : `play ${last.id}`, kind: "rulings", calls: [...calls, ...callsOf(question)] };
  }
  return merged;
}

/** The calls that a question is about. @param {Question | Rulings} question */
function callsOf(question) {
  if (question.kind === "rulings") return question.calls;
  return question.kind === "ruling" && question.call !== null ? [question.call] : [];
}

/** A question as a card. @param {Question | Rulings} question @param {Service.GameView} game */
export function questionCard(question, game) {
  if (question.kind === "rulings") return playCard(question.calls);
  const measuring = game.wait !== null && game.wait.purpose === "measurement";
  const title = question.kind !== "ruling" ? el("h2", {}, capitalize(question.text)) : measuring ? el("h2", {}, "Measurement") : null;
  return el("div", { class: `card ${question.kind}` }, title, ANSWERS[question.kind](question, game));
}

/** The open calls of one play: all as called with one tap, or each by itself. @param {Service.CallView[]} calls */
function playCard(calls) {
  const batch = calls.map((call) => ({ path: rulingPath(call), body: rulingBody("confirm") }));
  return el(
    "div",
    { class: "card ruling batch" },
    el("h2", {}, `${calls.length} calls of this play need your ruling`),
    el("ul", { class: "readings" }, calls.map((call) => el("li", {}, capitalize(formatCallText(call.text)), call.probability < 1 && ` (${formatPercent(call.probability)})`))),
    el("button", { type: "button", class: "main big", "data-batch": JSON.stringify(batch) }, `Confirm all ${calls.length} as called`),
    calls.map((call) => el("div", { class: "one" }, callHead(call), el("details", {}, el("summary", {}, "Details"), callDetails(call), framesLink(call)), answers(call))),
  );
}

/** @param {Service.CallView} call */
const answers = (call) =>
  el("div", { class: "row" }, call.readings.length > 1 ? call.readings.map((reading, index) => readingButton(call, reading, index)) : confirmOrOverturn(call));

/** @type {Record<Question["kind"], (question: Question, game: Service.GameView) => Child>} */
const ANSWERS = {
  // The answers come first: on a small phone, or one held sideways, they must be in sight without scrolling.
  ruling: ({ call }) => call !== null && [
    callHead(call),
    gauge(call),
    answers(call),
    framesLink(call),
    el("details", { open: innerHeight >= ROOMY_PX }, el("summary", {}, "Details"), callDetails(call, false)),
  ],
  identity: ({ purpose }) =>
    purpose === "sides"
      ? el("div", { class: "row" }, ["dark", "light"].map((left) => answerButton(`${capitalize(left)} on the left`, { type: "identities", left })))
      : [answerButton("Right as drawn", { type: "identities" }), el("p", {}, "If some are not, exchange their names under Line-up check first.")],
  coin: ({ purpose }) => el("div", { class: "row" }, [true, false].map((heads) => answerButton(heads ? "Heads" : "Tails", { type: "coin", heads, purpose }))),
  choice: (question, game) => choiceButtons(question, game),
  roll: (question, game) => [
    ...(question.instead ? [el("p", {}, capitalize(question.instead))] : rollInput(question, diceDue(question.purpose))),
    question.options.length > 0 && choiceButtons(question, game),
  ],
};

/** A button for each choice, or one for each side that may make it. @param {Question} question @param {Service.GameView} game */
const choiceButtons = ({ options, by, named }, game) =>
  el(
    "div",
    { class: "row" },
    options.flatMap((choice, place) => {
      const label = capitalize(humanize(choice));
      const sides = named[place] ?? [];
      if (sides.length === 0) return [answerButton(label, { type: "choice", choice, by })];
      return sides.map((side) => answerButton(`${label}: ${game[side].name}`, { type: "choice", choice, by: side }));
    }),
  );

/** @param {Service.CallView} call */
function confirmOrOverturn(call) {
  return [rulingButton(call, "confirm", "Confirm", "main big"), rulingButton(call, "overturn", "Overturn", "warn big")];
}

/**
 * Both readings of a close call are buttons: the first confirms the call, the second replaces it.
 *
 * @param {Service.CallView} call
 * @param {Service.ReadingView} reading
 * @param {number} index
 */
function readingButton(call, reading, index) {
  const label = `${capitalize(formatCallText(reading.text))} (${formatPercent(reading.probability)})`;
  if (index === 0) return rulingButton(call, "confirm", `Confirm: ${label}`, "main big");
  return rulingButton(call, "overturn", `Overturn: ${label}`, "warn big", reading.kind === "info" ? null : replacement(call, reading));
}

/** @param {Service.CallView} call @param {Service.ReadingView} reading @returns {Service.CallRequest} */
const replacement = (call, reading) => ({
  kind: reading.kind,
  text: formatCallText(reading.text),
  side: call.side,
  spot_yd: call.spot_yd,
  players: call.players,
});

/** @param {string} label @param {Declaration} declaration */
const answerButton = (label, declaration) =>
  el("button", { type: "button", class: "main", "data-post": "api/declarations", "data-body": JSON.stringify({ declaration }) }, label);

/**
 * Inputs for dice: faces to tap, or a field where there are many.
 *
 * @param {{ purpose: string, by: ?Side }} question
 * @param {?Service.DiceDue} dice
 */
export function rollInput(question, dice) {
  const send = el("button", { type: "button", class: "main", disabled: true }, ENTER_DICE);
  /** @type {Update} */
  const update = (values, showSum) => {
    send.disabled = values === null;
    if (values === null) {
      send.textContent = ENTER_DICE;
      return;
    }
    send.textContent = `Rolled ${values.join(" and ")}${showSum ? ` = ${values.reduce((a, b) => a + b)}` : ""}`;
    const declaration = { type: "roll", dice: values, purpose: question.purpose, by: question.by };
    Object.assign(send.dataset, { post: "api/declarations", body: JSON.stringify({ declaration }) });
  };
  const range = dice?.number ? { low: 1, high: 100 } : null;
  return [dice && !dice.number ? diceButtons(Array(dice.count).fill(dice.sides), update) : diceField(range, update), send];
}

/**
 * A row of faces to tap for each die, and a button that rolls them where no dice are at hand.
 *
 * @param {number[]} sides of each die
 * @param {Update} update
 */
function diceButtons(sides, update) {
  const rows = diceRows(sides, update);
  const roll = () => rows.forEach((row, die) => childrenOf(row)[randomBelow(sides[die])].click());
  return [...rows, el("button", { type: "button", class: "small roll-dice", onclick: roll }, "Roll them for me")];
}

/** A number from 0, each as likely: what is left over of the random number's range is drawn again. @param {number} count */
function randomBelow(count) {
  const range = 2 ** 32 - (2 ** 32 % count);
  let [drawn] = crypto.getRandomValues(new Uint32Array(1));
  while (drawn >= range) [drawn] = crypto.getRandomValues(new Uint32Array(1));
  return drawn % count;
}

/** @param {number[]} sides @param {Update} update */
function diceRows(sides, update) {
  const values = sides.map(() => /** @type {?number} */ (null));
  return sides.map((count, die) => {
    /** @param {HTMLElement} picked @param {number} value */
    const pick = (picked, value) => {
      values[die] = value;
      for (const face of childrenOf(row)) face.setAttribute("aria-pressed", String(face === picked));
      const known = values.filter((one) => one !== null);
      update(known.length < values.length ? null : known, values.length > 1);
    };
    /** @param {number} value */
    const face = (value) =>
      el("button", { type: "button", class: "face", "aria-pressed": "false", "aria-label": `Die ${die + 1}: ${value}`, onclick: ({ currentTarget }) => pick(currentTarget, value) }, String(value));
    const row = el("div", { class: "die", role: "group", "aria-label": `Die ${die + 1} of ${sides.length}` }, Array.from({ length: count }, (_, i) => face(i + 1)));
    return row;
  });
}

/** A text field, for dice with many faces or any number of dice. @param {?{ low: number, high: number }} range @param {Update} update */
function diceField(range, update) {
  const help = range ? `One number, ${range.low} to ${range.high}` : `${ENTER_DICE}, separated by spaces`;
  /** @param {{ currentTarget: HTMLInputElement }} event */
  const read = (event) => {
    const values = event.currentTarget.value.split(/[\s,]+/).filter(Boolean).map(Number);
    /** @param {number} value */
    const inRange = (value) => Number.isInteger(value) && value >= (range?.low ?? 0) && value <= (range?.high ?? 100);
    const valid = values.length > 0 && values.every(inRange) && (!range || values.length === 1);
    update(valid ? values : null, false);
  };
  return el("label", {}, help, el("input", { inputmode: "numeric", autocomplete: "off", oninput: read }));
}
