// Overlays of the event for OBS: standings (turning through the pools), the bracket, the next games, the scores of all tables.

import { el, find, refresh } from "./dom.js";
import { follow } from "./event_feed.js";
import { timeText, turns } from "./event_format.js";
import { atTable, brackets, gameCard, standingsTable, swatch } from "./event_tables.js";

const TURN_MS = 10_000;
const NEXT_SHOWN = 6;
const SCORES_SHOWN = 4;

const kind = location.pathname.split("/").at(-1) ?? "";
const stage = find(document, "#stage");
stage.className = kind;
const query = new URLSearchParams(location.search);
const theme = query.get("theme");
const without = (query.get("without") ?? "").trim().toLowerCase(); // the table of this stream, whose score is seen anyway
if (theme === "light") document.documentElement.dataset.theme = "light";

/** @type {?Desk.EventView} */
let latest = null;
/** How it stands in games that are in play, by match. @type {Record<string, [home: number, away: number]>} */
let live = {};
let turn = 0;

/** What each kind of overlay shows in turn. @type {Record<string, (event: Desk.EventView) => (() => Child)[]>} */
const PARTS = {
  standings: (event) => event.pools.map((pool) => () => standingsTable(pool)),
  bracket: (event) => brackets(event).map((part) => () => part),
  next: (event) => [() => nextGames(event)],
  scores: (event) => scorePages(event),
};

/** The scores of the tables in a strip: games in play, then those that were played last; four at a time. @param {Desk.EventView} event */
function scorePages(event) {
  const tableOf = (/** @type {Desk.MatchView} */ match) => match.played_at || match.table;
  const isShown = (/** @type {Desk.MatchView} */ match) => without === "" || tableOf(match).toLowerCase() !== without;
  const playing = event.matches.filter((match) => match.state === "in_play" && live[match.id] !== undefined && isShown(match));
  const played = event.matches.filter((match) => match.result !== null && match.result.forfeited_by === null && isShown(match));
  const games = [...playing, ...played.reverse().slice(0, 2 * SCORES_SHOWN)];
  return Array.from({ length: Math.ceil(games.length / SCORES_SHOWN) }, (_, page) => () =>
    el("div", { class: "strip" }, games.slice(page * SCORES_SHOWN, (page + 1) * SCORES_SHOWN).map((match) => score(match, tableOf(match)))),
  );
}

/** @param {Desk.MatchView} match @param {string} table */
function score(match, table) {
  const points = match.result === null ? live[match.id] : [match.result.home, match.result.away];
  const line = (/** @type {Desk.SideView} */ { name, color }, /** @type {number} */ own) =>
    el("p", { class: [...name].length > 22 ? "long" : "" }, swatch(color), el("span", { dir: "auto" }, name), el("b", {}, String(own)));
  return el("article", {}, el("small", {}, match.result === null ? atTable(table) : "Final"), line(match.away, points[1]), line(match.home, points[0]));
}

/** @param {Desk.EventView} event */
function nextGames(event) {
  const { slot, now } = turns(event);
  const left = [...now, ...upcomingFrom(event.matches, slot).filter((match) => !now.includes(match))];
  const title = slot === null ? "Now" : `From ${timeText(event.slots[slot] ?? "") || "now"}`;
  return el(
    "div",
    { class: "nexts" },
    el("h3", {}, left.length ? title : event.matches.length ? "All games are played" : "The draw is not made yet"),
    left.slice(0, NEXT_SHOWN).map((match) => gameCard(match, event.matches)),
  );
}

/** Games of a slot and of those after it, in their order; none where there is no slot. @param {Desk.MatchView[]} matches @param {?number} slot */
function upcomingFrom(matches, slot) {
  const slotOf = (/** @type {Desk.MatchView} */ match) => match.slot ?? -1;
  return matches.filter((match) => slot !== null && slotOf(match) >= slot && match.state !== "not_needed").sort((a, b) => slotOf(a) - slotOf(b));
}

function show() {
  const event = latest;
  if (event === null) return;
  const parts = PARTS[kind]?.(event) ?? [];
  refresh(stage, [event.revision, kind === "scores" && live, parts.length ? turn % parts.length : -1], () =>
    parts.length === 0 ? [] : [el("section", { class: "plate" }, kind !== "scores" && el("h2", {}, event.name), parts[turn % parts.length]())],
  );
}

if (kind === "scores") {
  follow("api/event/live", (/** @type {typeof live} */ points) => {
    live = points;
    show();
  });
}
follow("api/event", (/** @type {Desk.EventView} */ event) => {
  latest = event;
  show();
});
setInterval(() => {
  turn += 1;
  show();
}, TURN_MS);
