// Figures that are drawn turned around: a tap on one tells the camera which end of its base is the front.

import { applyTeamColors } from "./color.js";
import { el, refresh } from "./dom.js";
import { formatPlayer } from "./format.js";

/** Below this a call that rests on a figure's front is too close, as the rulebooks have it. */
const SURE = 0.95;

/** The section: a line about the figures whose front is not certain, and a button for every figure. */
export function frontCorrections() {
  return el(
    "details",
    { class: "fronts" },
    el("summary", {}, el("span", {}, "A figure faces the wrong way?")),
    el("p", { class: "muted" }, "Tap each figure that is drawn turned around."),
    el("p", { class: "unsettled", "aria-live": "polite" }),
    el("div", { class: "numbers" }),
  );
}

/** Bring the section up to date; buttons stay where they are while figures only move. */
export function updateFronts(section, scene, lineUp, game) {
  section.hidden = !game.accepts.includes("front");
  const figures = (scene?.figures ?? []).filter((figure) => figure.posture === "upright");
  const unsure = figures.filter((figure) => figure.front < SURE).map((figure) => formatPlayer(figure.id));
  refresh(section.querySelector(".unsettled"), unsure, () =>
    el("span", {}, unsure.length > 0 && el("b", {}, "Not sure which end is the front: "), unsure.join(", ")),
  );
  const sides = Object.fromEntries(["home", "away"].map((side) => [game[side].jersey, game[side]]));
  const numbers = section.querySelector(".numbers");
  const players = new Map(lineUp.players.map((player) => [player.id, player]));
  const shown = figures.filter((figure) => players.has(figure.id));
  refresh(numbers, [shown.map((figure) => figure.id), lineUp.players, sides], () =>
    shown.map((figure) => frontButton(players.get(figure.id), sides[figure.jersey])),
  );
  for (const [index, figure] of shown.entries()) numbers.children[index].dataset.body = JSON.stringify({ declaration: turnedAround(figure) });
}

/** Its direction and not "the other one": a second tap on the same picture changes nothing. */
function turnedAround(figure) {
  return { type: "front", player: figure.id, heading_deg: figure.heading > 0 ? figure.heading - 180 : figure.heading + 180 };
}

function frontButton(player, side) {
  const button = el(
    "button",
    { type: "button", class: "number", "data-post": "api/declarations", "aria-label": `Turned around: ${formatPlayer(player.id)}` },
    el("b", {}, player.number || player.id.split("-").at(-1)),
    player.role && el("small", {}, player.role),
  );
  applyTeamColors(button, side);
  return button;
}
