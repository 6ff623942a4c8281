// What a camera reads from the strip of a card game, and the question when the game says something else.

import { el, refresh } from "./dom.js";
import { capitalize } from "./format.js";
import { requestData } from "./panel_fields.js";

/** @type {Partial<Record<Service.StripView["status"], string>>} */
const STATES = { agrees: "ok", differs: "warning", unread: "warning" };

/**
 * Fill the section with what the strip says; hidden where no strip is watched.
 *
 * @param {HTMLElement} section
 * @param {Service.StripView | undefined} strip
 */
export function stripSection(section, strip) {
  section.hidden = strip === undefined;
  if (strip === undefined) return;
  const { status, text, unread, hidden, question } = strip;
  refresh(section, [status, text, unread, hidden, question], () => [
    question && questionCard(question),
    el("p", { class: "reading", role: "status" }, el("span", { class: `dot ${STATES[status] ?? ""}` }), el("span", {}, text)),
    unread.length > 0 && el("p", { class: "unread" }, `Not read: ${unread.join("; ")}`),
    ...hidden.map((what) => el("p", { class: "unread" }, what)),
  ]);
}

/** @param {Service.StripQuestion} question */
const questionCard = ({ id, text, answers }) =>
  el("div", { class: "card choice", role: "alert" }, el("h2", {}, text), el("div", { class: "row" }, answers.map((answer) => answerButton(id, answer))));

/**
 * Keeping the game is a command; every other answer declares what happened, in the name of whoever taps it.
 *
 * @param {string} question its id
 * @param {Service.StripAnswer} answer
 */
function answerButton(question, { label, declaration }) {
  const request = declaration === null ? requestData("api/commands", { command: "keep_game", question }) : requestData("api/declarations", { declaration });
  return el("button", { type: "button", class: declaration === null ? "big" : "main big", ...request }, capitalize(label));
}
