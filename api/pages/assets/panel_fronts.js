// Which way figures face: a tap tells the camera which end of a base is the front, where it is wrong or not sure.

import { applyTeamColors } from "./color.js";
import { el, refresh } from "./dom.js";
import { formatPlayer } from "./format.js";

/** Below this a call that rests on a figure's front is too close, as the rulebooks have it. */
const SURE = 0.95;

/** The section: figures whose front is not certain, to be confirmed, and a button that turns each figure around. */
export function frontCorrections() {
  return el(
    "details",
    { class: "fronts" },
    el("summary", {}, el("span", {}, "A figure faces the wrong way?")),
    el("p", { class: "muted" }, "Tap each figure that is drawn turned around."),
    el("div", { class: "numbers" }),
    el("p", { class: "unsure-fronts", "aria-live": "polite" }),
    el("div", { class: "row confirm-fronts" }),
  );
}

/** Bring the section up to date; buttons stay where they are while figures only move. */
export function updateFronts(section, scene, lineUp, game) {
  section.hidden = !game.accepts.includes("front");
  const players = new Map(lineUp.players.map((player) => [player.id, player]));
  const figures = (scene?.figures ?? []).filter((figure) => figure.posture === "upright" && players.has(figure.id));
  const unsure = figures.filter((figure) => figure.front < SURE);
  const sides = Object.fromEntries(["home", "away"].map((side) => [game[side].jersey, game[side]]));
  const turned = section.querySelector(".numbers");
  refresh(turned, [figures.map((figure) => figure.id), lineUp.players, sides], () =>
    figures.map((figure) => turnButton(players.get(figure.id), sides[figure.jersey])),
  );
  for (const [index, figure] of figures.entries()) setDirection(turned.children[index], figure, (figure.heading + 180) % 360);
  const names = unsure.map((figure) => formatPlayer(figure.id));
  refresh(section.querySelector(".unsure-fronts"), names, () => names.length > 0 && el("b", {}, "Not sure which end is the front. Right as drawn?"));
  const right = section.querySelector(".confirm-fronts");
  refresh(right, names, () => names.map((name) => el("button", { type: "button", class: "small", "aria-label": `Right as drawn: ${name}` }, name)));
  for (const [index, figure] of unsure.entries()) setDirection(right.children[index], figure, figure.heading);
}

/** A direction and not "the other one": a second tap on the same picture changes nothing. */
function setDirection(button, figure, heading_deg) {
  button.dataset.post = "api/declarations";
  button.dataset.body = JSON.stringify({ declaration: { type: "front", player: figure.id, heading_deg } });
}

function turnButton(player, side) {
  const button = el(
    "button",
    { type: "button", class: "number", "aria-label": `Turned around: ${formatPlayer(player.id)}` },
    el("b", {}, player.number || player.id.split("-").at(-1)),
    player.role && el("small", {}, player.role),
  );
  applyTeamColors(button, side);
  return button;
}
