// Players' numbers to tap, and the declaration that a tap makes.

import { applyTeamColors } from "./color.js";
import { childrenOf, el, find, findAll, refresh } from "./dom.js";
import { formatCallText, formatNumber, formatPlayer } from "./format.js";
import { declarationData } from "./panel_fields.js";

/** In the order of display: ball handlers first. */
const ROLES = ["QB", "RB", "FB", "HB", "WR", "TE", "K", "P", "KR", "PR", "DB", "CB", "S", "LB", "DL", "DE", "DT", "NT", "C", "G", "T"];

/** @typedef {import("./panel_actions.js").PlayerAction} PlayerAction */

/** @type {?string} the id of the action that a tap makes */
let chosenAction = null;
/** @type {string[]} */
let pickedPlayers = [];

/**
 * Fill the section with a side's numbers and the choice of what a tap declares.
 *
 * @param {HTMLElement} section
 * @param {Service.GameView} game
 * @param {Service.BallView | undefined} ball
 * @param {Service.LineUpView | undefined} lineUp
 * @param {PlayerAction[]} actions
 * @param {(declaration: Declaration, player: string) => boolean} mayName
 */
export function playerSection(section, game, ball, lineUp, actions, mayName) {
  if (!actions.some((action) => action.id === chosenAction)) {
    chosenAction = actions[0]?.id ?? null;
    pickedPlayers = [];
  }
  const action = actions.find(({ id }) => id === chosenAction);
  const team = action === undefined ? null : game[action.side];
  const carrier = ball?.player ?? null;
  /** @param {Service.Player} player */
  const canBeTapped = (player) => player.jersey === team?.jersey && (player.id !== carrier || action?.id === "carrier");
  const players = (lineUp?.players ?? []).filter(canBeTapped).sort(byRole);
  refresh(section, [actions, chosenAction, players, team, carrier, ball?.text], () => {
    /** @param {string} id */
    const choose = (id) => {
      [chosenAction, pickedPlayers] = [id, []];
      playerSection(section, game, ball, lineUp, actions, mayName);
    };
    return [
      el("p", { class: "ball-text" }, formatCallText(ball?.text ?? "")),
      actions.length > 1 &&
        el(
          "div",
          { class: "player-actions", role: "radiogroup", "aria-label": "What a tap on a number means" },
          actions.map((choice) => actionButton(choice, () => choose(choice.id))),
        ),
      action && el("p", { class: "muted player-action" }, actions.length > 1 ? "" : action.label),
      action && el("div", { class: "numbers" }, players.map((player) => numberButton(player, formatNumber(player, lineUp?.players ?? []), action, game[action.side], carrier))),
      action !== undefined && action.max > 1 && el("button", { type: "button", class: "main declare-picked", disabled: true }, action.label),
    ];
  });
  if (action === undefined) return;
  for (const button of findAll(section, "[data-player]")) {
    const { player = "" } = button.dataset;
    button.classList.toggle("dimmed", !mayName(action.declare([player]), player));
  }
}

/** @param {PlayerAction} action @param {() => void} onclick */
function actionButton(action, onclick) {
  return el(
    "button",
    { type: "button", class: "small", role: "radio", "aria-checked": String(action.id === chosenAction), onclick },
    action.label,
  );
}

/** @param {Service.Player} player @param {string} number @param {PlayerAction} action @param {Service.TeamView} side @param {?string} carrier */
function numberButton(player, number, action, side, carrier) {
  const behavior = action.max > 1 ? { onclick: pick(player.id, action), "aria-pressed": "false" } : declarationData(action.declare([player.id]));
  const button = el(
    "button",
    {
      type: "button",
      "data-player": player.id,
      class: `number${player.id === carrier ? " carrier" : ""}`,
      "aria-label": `${action.label} ${formatPlayer(player.id)}${player.role ? `, ${player.role}` : ""}`,
      ...behavior,
    },
    el("b", {}, number),
    player.role && el("small", {}, player.role),
  );
  applyTeamColors(button, side);
  return button;
}

/**
 * Several players are picked first and then declared with one button.
 *
 * @param {string} id
 * @param {PlayerAction} action
 * @returns {(event: { currentTarget: HTMLElement }) => void}
 */
function pick(id, action) {
  return (event) => {
    const button = event.currentTarget;
    pickedPlayers = pickedPlayers.includes(id) ? pickedPlayers.filter((player) => player !== id) : [...pickedPlayers, id].slice(-action.max);
    const [numbers, section] = [button.parentElement, button.parentElement?.parentElement];
    if (!numbers || !section) return; // the section was rebuilt meanwhile
    for (const number of childrenOf(numbers)) number.setAttribute("aria-pressed", String(pickedPlayers.includes(number.dataset.player ?? "")));
    const declareButton = find(section, ".declare-picked", HTMLButtonElement);
    declareButton.disabled = pickedPlayers.length === 0;
    declareButton.textContent = `${action.label} ${pickedPlayers.map((player) => player.split("-").at(-1)).join(" and ")}`;
    Object.assign(declareButton.dataset, { post: "api/declarations", body: JSON.stringify({ declaration: action.declare(pickedPlayers) }) });
  };
}

/** @param {Service.Player} a @param {Service.Player} b */
function byRole(a, b) {
  /** @param {Service.Player} player */
  const place = (player) => (ROLES.indexOf(player.role) + ROLES.length + 1) % (ROLES.length + 1);
  return place(a) - place(b) || Number(a.number) - Number(b.number);
}
