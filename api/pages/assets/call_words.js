// What was measured of a call, in plain words.

import { el } from "./dom.js";
import { capitalize, formatPercent } from "./format.js";

/**
 * One line, or one for each of several things measured and one for all of them together; empty where nothing was.
 *
 * @param {ShownCall} call
 */
export function callWords(call) {
  const lines = call.conditions.length > 0 ? [...call.conditions.map((one) => one.words), call.joint_words] : [call.words];
  return lines.filter(Boolean).map((line) => el("p", { class: "words" }, capitalize(line)));
}

/** How sure one of several things measured is: a percentage, or that it is left open. @param {Service.ConditionView} condition */
export const conditionSureness = (condition) => (["identity", "instant", "judgment"].includes(condition.measure) ? "open" : formatPercent(condition.probability));
