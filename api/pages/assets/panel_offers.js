// What the panel offers in each phase of the game. The service judges; this only leaves out what can't be meant.

import { plain } from "/assets/words.js";

const other = (side) => (side === "home" ? "away" : "home");

/** One declaration on a button: `tone` colors it. */
const offer = (label, declaration, tone = "") => ({ label, declaration, tone });

/** The switch, the way it is not: what the camera has seen need not be said. */
const board = (game) =>
  game.board === "on" ? offer("Board off", { type: "switch", on: false }, "stop") : offer("Board on", { type: "switch", on: true }, "go");

const choice = (name, label) => offer(label, { type: "choice", choice: name });

const KICKS = { kickoff: "Kick off", free_kick: "Free kick" };

/** What is declared with one tap now, the likeliest first. */
export function offers(game) {
  return inPhase(game).filter((one) => game.takes.includes(one.declaration.type));
}

/** What a tap on a player's number can mean now: whose numbers, and what is declared. */
export function verbs(game, ball) {
  return onPlayers(game, ball).filter((one) => game.takes.includes(one.declare(["x"]).type));
}

function inPhase(game) {
  const short = (side) => game[side].short;
  const separated = offer("Men apart", { type: "separated" });
  const set = offer("Set", { type: "set" }, "main");
  const pivots = (side) => offer(`${short(side)} done`, { type: "pivots_done", by: side });
  const ended = (end, label) => offer(label, { type: "pass_ended", end, player: null });
  const kicked = (end, label) => offer(label, { type: "kick_ended", end });
  switch (game.phase) {
    case "between_plays":
    case "line_up":
      if (game.due in KICKS && game.phase === "between_plays") {
        const kick = game.due === "kickoff" ? [offer("Onside kick", { type: "kick", kick: "onside" })] : [];
        const through = game.due === "kickoff" ? [choice("touchback", "Touchback")] : [];
        return [offer(KICKS[game.due], { type: "kick", kick: game.due }, "main"), ...kick, ...through];
      }
      if (game.due === "extra_point" || game.due === "field_goal") {
        const kick = offer(plain(game.due), { type: "kick", kick: game.due }, "main");
        return [kick, kicked("good", "Good"), kicked("no_good", "No good")];
      }
      return [
        ...(game.phase === "line_up" ? [set, board(game)] : [separated, set]),
        ...(game.due === "scrimmage" ? [offer("Field goal", { type: "kick", kick: "field_goal" })] : []),
      ];
    case "set":
      return [board(game), offer(`${short(other(game.offense))} ready`, { type: "pivots_done", by: other(game.offense) })];
    case "kick":
      return [board(game), kicked("out_of_bounds", "Out of bounds")];
    case "live":
      return [board(game), choice("stop_here", "Stop him here"), choice("let_run", "Let him run")];
    case "stopped":
      return [
        board(game),
        pivots("home"),
        pivots("away"),
        ...(game.possession === game.offense ? [offer("Pass", { type: "pass", receiver: null })] : []),
        ...(game.due === "punt" ? [choice("punt", "Punt away")] : []),
        choice("stop_here", "Stop him here"),
      ];
    case "pass":
      return [board(game), ended("incomplete", "Incomplete")];
    case "in_air":
      return [board(game), choice("overrun_stop", "Overran: stop"), ended("incomplete", "Incomplete")];
    default:
      return [];
  }
}

function onPlayers(game, ball) {
  const atRest = ["between_plays", "line_up", "set"].includes(game.phase);
  const held = ball?.player ?? null;
  const scrimmage = game.due === "scrimmage" || game.due === "punt";
  const verb = (id, label, side, declare, most = 1) => ({ id, label, side, declare, most });
  const carrier = (side) => verb("carrier", "Has the ball", side, ([player]) => ({ type: "carrier", player }));
  if (atRest) {
    const gunners = (players) => ({ type: "kick", kick: "punt", gunners: players });
    return [
      carrier(game.offense),
      ...(scrimmage && game.due !== "punt" ? [verb("punt", "Punt: gunners", game.offense, gunners, 2)] : []),
    ];
  }
  if (game.phase === "live" && held === null) return [carrier(game.possession)];
  if (game.phase === "stopped") {
    const pass = verb("pass", "Pass to", game.possession, ([receiver]) => ({ type: "pass", receiver }));
    const pitch = verb("pitch", "Pitch to", game.possession, ([to]) => ({ type: "pitch", to }));
    if (held === null) return [carrier(game.possession)];
    return game.possession === game.offense ? [pass, pitch] : [pitch]; // nobody passes on a return
  }
  if (game.phase === "pass" || game.phase === "in_air") {
    const caught = (end) => ([player]) => ({ type: "pass_ended", end, player });
    return [
      verb("caught", "Caught by", game.possession, caught("complete")),
      verb("intercepted", "Intercepted by", other(game.possession), caught("intercepted")),
    ];
  }
  return [];
}
