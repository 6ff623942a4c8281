// The splash for what changes a game: touchdown, turnover, first down, field goal, safety, with the team's name, colors and logo.

import { applyTeamColors } from "./color.js";
import { el } from "./dom.js";
import { logoImage } from "./logos.js";

/** @typedef {{ title: string, side: "home" | "away" }} Splash */

/** @type {Partial<Record<Service.CallView["kind"], string>>} */
const TITLES = {
  touchdown: "Touchdown",
  interception: "Interception",
  fumble_recovery: "Fumble recovery",
  turnover_on_downs: "Turnover on downs",
  first_down: "First down",
  field_goal: "Field goal",
  safety: "Safety",
};

/** Whether a call counts: what is open, noted, overturned or struck is nobody's to celebrate. @param {{ standing: string }} call */
export const isInForce = ({ standing }) => ["stands", "confirmed", "manual"].includes(standing);

/**
 * What a call is worth a splash for, as the game was before it; null for every other call.
 *
 * @param {Service.CallView} call
 * @param {?Service.GameView} game
 * @returns {?Splash}
 */
export function splashOf(call, game) {
  const title = TITLES[call.kind];
  if (title === undefined || game === null || !isInForce(call)) return null;
  const onTry = game.due === "extra_point" || game.due === "two_point";
  if (onTry && call.kind === "touchdown") return null; // it is worth what its own call says
  if (call.kind === "field_goal" && !["", "good"].includes(call.detail)) return null;
  const { offense, possession } = game;
  const isLost = call.kind === "turnover_on_downs" || call.kind === "safety" || call.kind === "interception";
  const side = call.side ?? (isLost ? (possession === "home" ? "away" : "home") : possession);
  if (call.kind === "fumble_recovery" && side === offense) return null; // its own ball
  return { title, side };
}

/** @param {Splash} splash @param {Service.GameView} game @param {string} id of the call */
export function splashElement({ title, side }, game, id) {
  const team = game[side];
  const length = [...team.name].length;
  const element = el(
    "article",
    { class: `banner splash scaled ${length > 34 ? "longest" : length > 16 ? "longer" : ""}`, "data-call": id },
    team.logo !== null && el("span", { class: "plate-of-logo" }, logoImage(team.logo)),
    el("div", {}, el("h1", { class: title.length > 12 && "long" }, title), el("p", { dir: "auto" }, team.name)),
  );
  applyTeamColors(element, team);
  return element;
}
