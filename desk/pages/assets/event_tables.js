// Standings, brackets and lists of games: built alike for the director, the hall and the stream.

import { el } from "./dom.js";
import { resultText, roundText, timeText, winner } from "./event_format.js";

/** A pool's table. @param {Desk.PoolView} pool */
export function standingsTable(pool) {
  const head = ["", "Team", "W", "L", "T", "+", "−", "±"].map((text) => el("th", { scope: "col" }, text));
  const rows = pool.standings.map((line) =>
    el(
      "tr",
      {},
      el("td", { class: "place" }, String(line.place)),
      el("th", { scope: "row" }, line.name, note(line) ? el("small", {}, note(line)) : null),
      ...[line.won, line.lost, line.tied, line.points_for, line.points_against].map((value) => el("td", {}, String(value))),
      el("td", {}, line.difference > 0 ? `+${line.difference}` : String(line.difference).replace("-", "−")),
    ),
  );
  return el(
    "div",
    { class: "pool" },
    el("h3", {}, pool.title, pool.complete ? null : el("small", {}, " so far")),
    el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows))),
  );
}

/** What a line of a table says of its place. @param {Desk.StandingView} line */
function note(line) {
  const decided = line.won + line.lost + line.tied > 0 ? line.decided_by : "";
  return [line.withdrawn ? "withdrew" : "", decided].filter(Boolean).join(" · ");
}

/** A team's color; gray for none. @param {string} color */
export function swatch(color) {
  const mark = el("i", { "aria-hidden": "true" });
  if (color) mark.style.background = color;
  return mark;
}

/** A side of a game as a line: color, name, points. @param {Desk.MatchView} match @param {Side} side @param {?[home: number, away: number]} live */
function sideLine(match, side, live) {
  const { name, color, entrant } = match[side];
  const won = winner(match) === side;
  const points = match.result === null ? String(live?.[side === "home" ? 0 : 1] ?? "") : match.result.forfeited_by === side ? "–" : String(match.result[side]);
  return el(
    "div",
    { class: `side${won ? " won" : ""}${entrant === null ? " open" : ""}` },
    swatch(color),
    el("span", { class: "name" }, name),
    el("b", {}, points),
  );
}

/** A table's name in a line: "Table 1" and "1" both as Table 1. @param {string} name */
export const atTable = (name) => (/^table/i.test(name) ? name : `table ${name}`);

/** What people must know of a game besides its result. @param {Desk.MatchView} match */
function remark({ state, dispute, waits_for, played_at, result, if_needed }) {
  if (state === "stopped") return `Stopped: ${dispute} The director decides.`;
  if (state === "in_play") return `In play at ${played_at ? atTable(played_at) : "a table"}`;
  if (waits_for) return `Waits for ${waits_for}, which the director must decide`;
  if (result?.protested) return "Signed with a protest";
  return if_needed && result === null ? "If needed" : "";
}

/** Makes a card a button; whether its table and its time are shown; how it stands while it is in play. @typedef {{ action?: ?(() => void), where?: boolean, when?: boolean, live?: ?[home: number, away: number] }} CardOptions */

/**
 * A game as a card; `action` makes it a button.
 *
 * @param {Desk.MatchView} match
 * @param {Desk.MatchView[]} matches
 * @param {CardOptions} [options]
 */
export function gameCard(match, matches, { action = null, where = true, when = where, live = null } = {}) {
  const held = match.postponed ? "postponed" : match.fixed ? "fixed" : "";
  const place = [match.id, where && match.table ? atTable(match.table) : "", when ? timeText(match.begins) : "", when ? held : ""].filter(Boolean).join(" · ");
  const content = [
    el("div", { class: "meta" }, el("span", {}, roundText(match, matches)), el("span", {}, place)),
    sideLine(match, "home", live),
    sideLine(match, "away", live),
    match.result?.overtime || match.result?.forfeited_by ? el("div", { class: "meta" }, resultText(match)) : null,
    remark(match) ? el("div", { class: "meta remark" }, remark(match)) : null,
    match.officials.length ? el("div", { class: "meta" }, `Officials: ${match.officials.join(", ")}`) : null,
  ];
  const kind = `game ${match.state}`;
  return action === null
    ? el("div", { class: kind }, content)
    : el("button", { class: kind, type: "button", onclick: action, "aria-label": `${match.id}: ${match.home.name} against ${match.away.name}` }, content);
}

/**
 * The first round from top to bottom, with who has a bye in it where their next game is.
 *
 * @param {Desk.MatchView[]} games
 * @param {Desk.MatchView[]} following
 * @param {(match: Desk.MatchView) => HTMLElement} card
 */
function withByes(games, following, card) {
  const left = [...games];
  const sides = following.flatMap(({ home, away }) => [home, away]);
  return sides.map((side) => {
    const game = side.bye ? undefined : left.shift();
    return game === undefined ? el("div", { class: "game bye" }, el("div", { class: "side" }, swatch(side.color), el("span", { class: "name" }, side.name), "bye")) : card(game);
  });
}

/**
 * A bracket: a column for each round, from left to right.
 *
 * @param {string} title
 * @param {Desk.MatchView[]} games
 * @param {Desk.MatchView[]} matches
 * @param {(match: Desk.MatchView) => CardOptions} [cardOptions]
 */
export function bracket(title, games, matches, cardOptions = () => ({})) {
  const rounds = [...new Set(games.map((match) => match.round))].sort((a, b) => a - b);
  /** @param {Desk.MatchView} match */
  const card = (match) => gameCard(match, matches, cardOptions(match));
  const columns = rounds.map((round, at) => {
    const own = games.filter((match) => match.round === round);
    const following = at === 0 ? games.filter((match) => match.round === rounds[1]) : [];
    const byes = following.some(({ home, away }) => home.bye || away.bye);
    return el("div", { class: "round" }, byes ? withByes(own, following, card) : own.map(card));
  });
  return el("div", { class: "bracket" }, el("h3", {}, title), el("div", { class: "scroll" }, el("div", { class: "rounds" }, columns)));
}

/** Titles and stages, and whether it is one of a double elimination; null for either. @type {[string, Desk.MatchView["stage"][], ?boolean][]} */
const BRACKETS = [
  ["Elimination", ["winners", "final"], false],
  ["Winners' bracket", ["winners"], true],
  ["Losers' bracket", ["losers"], true],
  ["Final", ["final"], true],
  ["Third place", ["third_place"], null],
  ["Consolation", ["consolation"], null],
];

/** Every bracket of the event, in order. @param {Desk.EventView} event @param {(match: Desk.MatchView) => CardOptions} [cardOptions] */
export function brackets(event, cardOptions) {
  const isDouble = event.matches.some((match) => match.stage === "losers");
  return BRACKETS.filter(([, , double]) => double === null || double === isDouble)
    .map(([title, stages]) => ({ title, games: event.matches.filter((match) => stages.includes(match.stage) && match.state !== "not_needed") }))
    .filter(({ games }) => games.length > 0)
    .map(({ title, games }) => bracket(title, games, event.matches, cardOptions));
}
