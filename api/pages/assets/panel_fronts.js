// Which way figures face: a tap declares which end of a base is the front, where the camera is wrong or not sure.

import { applyTeamColors } from "./color.js";
import { childrenOf, el, find, refresh } from "./dom.js";
import { formatNumber, formatPlayer } from "./format.js";

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

/**
 * Bring the section up to date; buttons stay where they are while figures only move.
 *
 * @param {HTMLElement} section
 * @param {Service.SceneView | undefined} scene
 * @param {Service.LineUpView} lineUp
 * @param {Service.GameView} game
 */
export function updateFronts(section, scene, lineUp, game) {
  section.hidden = !game.accepts.includes("front");
  const players = new Map(lineUp.players.map((player) => [player.id, player]));
  const figures = (scene?.figures ?? []).filter((figure) => figure.posture === "upright" && players.has(figure.id));
  const unsure = figures.filter((figure) => figure.front < SURE);
  const team = (/** @type {Service.FigureView} */ { jersey }) => (game.home.jersey === jersey ? game.home : game.away);
  const turned = find(section, ".numbers");
  refresh(turned, [figures.map((figure) => figure.id), lineUp.players, game.home, game.away], () =>
    figures.map((figure) => turnButton(figure, players.get(figure.id), team(figure), lineUp.players)),
  );
  for (const [index, button] of childrenOf(turned).entries()) setDirection(button, figures[index], (figures[index].heading + 180) % 360);
  const names = unsure.map((figure) => formatPlayer(figure.id));
  refresh(find(section, ".unsure-fronts"), names, () => names.length > 0 && el("b", {}, "Not sure which end is the front. Right as drawn?"));
  const right = find(section, ".confirm-fronts");
  refresh(right, names, () => names.map((name) => el("button", { type: "button", class: "small", "aria-label": `Right as drawn: ${name}` }, name)));
  for (const [index, button] of childrenOf(right).entries()) setDirection(button, unsure[index], unsure[index].heading);
}

/**
 * A direction and not "the other one": a second tap on the same picture changes nothing.
 *
 * @param {HTMLElement} button
 * @param {Service.FigureView} figure
 * @param {number} heading_deg
 */
function setDirection(button, figure, heading_deg) {
  button.dataset.post = "api/declarations";
  button.dataset.body = JSON.stringify({ declaration: { type: "front", player: figure.id, heading_deg } });
}

/** @param {Service.FigureView} figure @param {Service.Player | undefined} player @param {Service.TeamView} team @param {Service.Player[]} players */
function turnButton({ id }, player, team, players) {
  const button = el(
    "button",
    { type: "button", class: "number", "aria-label": `Turned around: ${formatPlayer(id)}` },
    el("b", {}, player ? formatNumber(player, players) : id.split("-").at(-1)),
    player?.role && el("small", {}, player.role),
  );
  applyTeamColors(button, team);
  return button;
}
