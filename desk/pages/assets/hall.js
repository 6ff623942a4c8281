// The big screen of the hall: what is played now and next, then standings and brackets in turn. Nothing to tap.

import { el, elementsOf, findAll, refresh, setText } from "./dom.js";
import { follow } from "./event_feed.js";
import { ordinal, timeText, turns } from "./event_format.js";
import { brackets, gameCard, standingsTable } from "./event_tables.js";

const TURN_MS = 12_000;
const SLOTS_SHOWN = 2;
const WIDE = 4; // rounds
const TOGETHER = 5; // games of the first two rounds: up to seven teams
const GAMES_SHOWN = 10; // what fits under one another on a big screen, in two columns

const at = elementsOf("hall");
/** @type {?Desk.EventView} */
let latest = null;
/** @type {Record<string, [home: number, away: number]>} how it stands in games that are in play, by match */
let live = {};
let turn = 0;

/** The games of now and next in pages that fit on the screen: what is in play is now, whenever it was to begin. @param {Desk.EventView} event */
function gamePages(event) {
  const { slot, now } = turns(event);
  const slots = [...new Set(event.matches.map((match) => match.slot ?? -1))].filter((number) => slot !== null && number >= slot).sort((a, b) => a - b).slice(0, SLOTS_SHOWN);
  const own = slots.map((number) => event.matches.filter((match) => match.slot === number && match.state !== "not_needed" && !now.includes(match)));
  const parts = [{ title: "Now", at: slot, games: [...now, ...(own[0] ?? [])] }, { title: "Next", at: slots[1] ?? null, games: own[1] ?? [] }];
  const games = parts.flatMap((part) => part.games.map((match) => ({ ...part, match })));
  /** @type {(typeof games)[]} */
  const pages = [];
  for (let start = 0; start < games.length; start += GAMES_SHOWN) pages.push(games.slice(start, start + GAMES_SHOWN));
  return pages;
}

/** @param {Desk.EventView} event */
function showGames(event) {
  const pages = gamePages(event);
  const page = pages.length ? turn % pages.length : 0;
  refresh(at("now"), [event.revision, page, live], () => {
    if (pages.length === 0) return el("p", { class: "muted" }, event.matches.length ? "All games are played." : "The draw is not made yet.");
    const part = pages.length > 1 ? ` (${page + 1} of ${pages.length})` : "";
    return ["Now", "Next"].map((title) => {
      const shown = pages[page].filter((game) => game.title === title);
      return shown.length === 0
        ? null
        : el(
            "div",
            { class: "slot" },
            el("h3", {}, title, el("small", {}, ` ${timeText(event.slots[shown[0].at ?? -1] ?? "")}${part}`)),
            el("div", { class: "list" }, shown.map(({ match }) => gameCard(match, event.matches, { when: false, live: live[match.id] ?? null }))),
          );
    });
  });
}

/** @param {Desk.EventView} event @returns {(() => Child)[]} */
function parts(event) {
  const champion = event.ranking.filter(({ place }) => place <= 3);
  return [
    ...(champion.length ? [() => podium(champion)] : []),
    ...event.pools.map((pool) => () => standingsTable(pool)),
    ...bracketParts(event),
  ];
}

/** Brackets one after another; all of them together where they fit on the screen. @param {Desk.EventView} event @returns {(() => Child)[]} */
function bracketParts(event) {
  const shown = brackets(event);
  const firsts = event.matches.filter(({ stage, round }) => stage === "winners" && round <= 2).length;
  return firsts <= TOGETHER ? (shown.length ? [() => el("div", {}, shown)] : []) : shown.map((part) => () => part);
}

/** @param {Desk.RankView[]} ranks */
function podium(ranks) {
  return el(
    "div",
    { class: "podium" },
    el("h2", {}, "Final places"),
    el("ol", {}, ranks.map(({ place, name }) => el("li", {}, el("b", {}, ordinal(place)), el("span", {}, name)))),
  );
}

function show() {
  const event = latest;
  if (event === null) return;
  setText(at("event-name"), event.name);
  showGames(event);
  const all = parts(event);
  refresh(at("turning"), [event.revision, all.length ? turn % all.length : -1], () => (all.length ? all[turn % all.length]() : []));
  const columns = Math.max(0, ...findAll(at("turning"), ".rounds").map(({ childElementCount }) => childElementCount));
  document.body.classList.toggle("wide", columns >= WIDE); // a wide bracket has the whole screen for its turn
}

follow("api/event/announcements", (/** @type {string[]} */ texts) => refresh(at("announcements"), texts, () => texts.map((text) => el("p", { class: "announcement" }, text))));
follow("api/event/live", (/** @type {typeof live} */ points) => {
  live = points;
  show();
});
follow("api/event", (/** @type {Desk.EventView} */ event) => {
  latest = event;
  show();
});
setInterval(() => {
  turn += 1;
  show();
}, TURN_MS);
setInterval(() => {
  const now = new Date();
  setText(at("clock"), `${now.getHours()}:${String(now.getMinutes()).padStart(2, "0")}`);
}, 1_000);
