// A game in a few words: its date, and whether it is in play.

import { el } from "./dom.js";
import { overtimeWinner } from "./format.js";

const STANDINGS = { in_play: "In play", unfinished: "Not finished", ended: "Final", reopened: "Reopened" };

/** When a game began, as a date and a time of day. @param {{ began_ms: number }} game */
export const formatGameDate = (game) =>
  new Date(game.began_ms).toLocaleString("en-US", { year: "numeric", month: "short", day: "numeric", hour: "numeric", minute: "2-digit", second: "2-digit" });

/**
 * What a game's page says of it beside teams and score; where a game that is not over stands, without the score.
 *
 * @param {Pick<Service.ListedGame, "began_ms" | "standing" | "text" | "title" | "table" | "rulebook_title">} game
 */
export const gameFacts = (game) => {
  const now = ["in_play", "unfinished"].includes(game.standing) ? game.text.split(" | ").slice(1).join(", ") : "";
  return [overtimeWinner(game.text), formatGameDate(game), game.title, game.table, game.rulebook_title, now].filter(Boolean);
};

/** Whether a game is in play, not finished, or over. @param {Service.ListedGame["standing"]} standing */
export const standingBadge = (standing) => el("span", { class: `badge ${standing}` }, STANDINGS[standing] ?? standing);
