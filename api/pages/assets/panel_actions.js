// The panel's actions in each phase of the game. The service decides; the panel leaves out what can't be done now.

import { humanize, opponent } from "./format.js";

/** A declaration on a button; `tone` is its color. @typedef {{ label: string, declaration: Declaration, tone: string }} Action */

/**
 * A declaration by a tap on up to `max` numbers of a side's players.
 *
 * @typedef {{ id: string, label: string, side: Side, declare: (players: string[]) => Declaration, max: number }} PlayerAction
 */

/** @param {string} label @param {Declaration} declaration @param {string} [tone] @returns {Action} */
const action = (label, declaration, tone = "") => ({ label, declaration, tone });

/** The board switch, in the direction that changes something. @param {Service.GameView} game */
const boardSwitch = (game) =>
  game.board === "on" ? action("Board off", { type: "switch", on: false }, "stop") : action("Board on", { type: "switch", on: true }, "go");

/** @param {string} name @param {string} label */
const choice = (name, label) => action(label, { type: "choice", choice: name });

/** @type {Partial<Record<Service.GameView["due"], string>>} */
const KICK_LABELS = { kickoff: "Kick off", free_kick: "Free kick" };

/** Declarations for one tap, the likeliest first. @param {Service.GameView} game */
export function quickActions(game) {
  return phaseActions(game).filter(({ declaration }) => game.accepts.includes(declaration.type));
}

/**
 * Declarations by a tap on a player's number: for which side, and what is declared.
 *
 * @param {Service.GameView} game
 * @param {Service.BallView | undefined} ball
 */
export function playerActions(game, ball) {
  return phasePlayerActions(game, ball).filter(({ declare }) => game.accepts.includes(declare(["x"]).type));
}

/** @param {Service.GameView} game @returns {Action[]} */
function phaseActions(game) {
  /** @param {Side} side */
  const short = (side) => game[side].short;
  const separated = action("Figures apart", { type: "separated" });
  const set = action("Set", { type: "set" }, "main");
  /** @param {Side} side */
  const pivots = (side) => action(`${short(side)} pivots done`, { type: "pivots_done", by: side });
  /** @param {string} end @param {string} label */
  const passEnded = (end, label) => action(label, { type: "pass_ended", end, player: null });
  /** @param {string} end @param {string} label */
  const kickEnded = (end, label) => action(label, { type: "kick_ended", end });
  switch (game.phase) {
    case "between_plays":
    case "line_up":
      const kickLabel = KICK_LABELS[game.due];
      if (kickLabel !== undefined && game.phase === "between_plays") {
        const onside = game.due === "kickoff" ? [action("Onside kick", { type: "kick", kick: "onside" })] : [];
        const touchback = game.due === "kickoff" ? [choice("touchback", "Touchback")] : [];
        return [action(kickLabel, { type: "kick", kick: game.due }, "main"), ...onside, ...touchback];
      }
      if (game.due === "extra_point" || game.due === "field_goal") {
        const kick = action(humanize(game.due), { type: "kick", kick: game.due }, "main");
        return [kick, kickEnded("good", "Good"), kickEnded("no_good", "No good")];
      }
      return [
        ...(game.phase === "line_up" ? [set, boardSwitch(game)] : [separated, set]),
        ...(game.due === "scrimmage" ? [action("Field goal", { type: "kick", kick: "field_goal" })] : []),
      ];
    case "set":
      return [boardSwitch(game), action(`${short(opponent(game.offense))} ready`, { type: "pivots_done", by: opponent(game.offense) })];
    case "kick":
      return [boardSwitch(game), kickEnded("out_of_bounds", "Out of bounds")];
    case "live":
      return [boardSwitch(game), choice("stop_here", "Stop here"), choice("let_run", "Let it run")];
    case "stopped":
      return [
        boardSwitch(game),
        pivots("home"),
        pivots("away"),
        ...(game.possession === game.offense ? [action("Pass", { type: "pass", receiver: null })] : []),
        ...(game.due === "punt" ? [choice("punt", "Punt away")] : []),
        choice("stop_here", "Stop here"),
      ];
    case "pass":
      return [boardSwitch(game), passEnded("incomplete", "Incomplete")];
    case "in_air":
      return [boardSwitch(game), choice("overrun_stop", "Ran past: stop"), passEnded("incomplete", "Incomplete")];
    default:
      return [];
  }
}

/** @param {Service.GameView} game @param {Service.BallView | undefined} ball @returns {PlayerAction[]} */
function phasePlayerActions(game, ball) {
  const atRest = ["between_plays", "line_up", "set"].includes(game.phase);
  const carrierId = ball?.player ?? null;
  const scrimmage = game.due === "scrimmage" || game.due === "punt";
  /** @param {string} id @param {string} label @param {Side} side @param {PlayerAction["declare"]} declare @returns {PlayerAction} */
  const playerAction = (id, label, side, declare, max = 1) => ({ id, label, side, declare, max });
  /** @param {Side} side */
  const carrier = (side) => playerAction("carrier", "Has the ball", side, ([player]) => ({ type: "carrier", player }));
  if (atRest) {
    /** @param {string[]} players */
    const gunners = (players) => ({ type: "kick", kick: "punt", gunners: players });
    return [
      carrier(game.offense),
      ...(scrimmage && game.due !== "punt" ? [playerAction("punt", "Punt, gunners", game.offense, gunners, 2)] : []),
    ];
  }
  if (game.phase === "live" && carrierId === null) return [carrier(game.possession)];
  if (game.phase === "stopped") {
    const pass = playerAction("pass", "Pass to", game.possession, ([receiver]) => ({ type: "pass", receiver }));
    const pitch = playerAction("pitch", "Pitch to", game.possession, ([to]) => ({ type: "pitch", to }));
    if (carrierId === null) return [carrier(game.possession)];
    return game.possession === game.offense ? [pass, pitch] : [pitch]; // no pass on a return
  }
  if (game.phase === "pass" || game.phase === "in_air") {
    /** @param {string} end @returns {PlayerAction["declare"]} */
    const caught = (end) => ([player]) => ({ type: "pass_ended", end, player });
    return [
      playerAction("caught", "Caught by", game.possession, caught("complete")),
      playerAction("intercepted", "Intercepted by", opponent(game.possession), caught("intercepted")),
    ];
  }
  return [];
}
