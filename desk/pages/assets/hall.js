// The big screen of the hall: what is played now and next, then standings and brackets in turn. Nothing to tap.

import { el, elementsOf, refresh, setText } from "./dom.js";
import { follow } from "./event_feed.js";
import { ordinal, timeText, turns } from "./event_format.js";
import { brackets, gameCard, standingsTable } from "./event_tables.js";

const TURN_MS = 12_000;
const SLOTS_SHOWN = 2;
const GAMES_SHOWN = 10; // what fits under one another on a big screen, in two columns

const at = elementsOf("hall");
/** @type {?Desk.EventView} */
let latest = null;
let turn = 0;

/** The games of now and next in pages that fit on the screen, each with its slot. @param {Desk.EventView} event @param {number} slot */
function gamePages(event, slot) {
  const slots = [...new Set(event.matches.map((match) => match.slot ?? -1))].filter((number) => number >= slot).sort((a, b) => a - b).slice(0, SLOTS_SHOWN);
  const games = slots.flatMap((number) => event.matches.filter((match) => match.slot === number && match.state !== "not_needed"));
  /** @type {Desk.MatchView[][]} */
  const pages = [];
  for (let start = 0; start < games.length; start += GAMES_SHOWN) pages.push(games.slice(start, start + GAMES_SHOWN));
  return pages;
}

/** @param {Desk.EventView} event */
function showGames(event) {
  const { slot } = turns(event);
  const pages = slot === null ? [] : gamePages(event, slot);
  const page = pages.length ? turn % pages.length : 0;
  refresh(at("now"), [event.revision, slot, page], () => {
    if (slot === null) return el("p", { class: "muted" }, event.matches.length ? "All games are played." : "The draw is not made yet.");
    const part = pages.length > 1 ? ` (${page + 1} of ${pages.length})` : "";
    return [...new Set(pages[page].map((match) => match.slot))].map((number) =>
      el(
        "div",
        { class: "slot" },
        el("h3", {}, number === slot ? "Now" : "Next", el("small", {}, ` ${timeText(event.slots[number ?? -1] ?? "")}${part}`)),
        el("div", { class: "list" }, pages[page].filter((match) => match.slot === number).map((match) => gameCard(match, event.matches, { when: false }))),
      ),
    );
  });
}

/** @param {Desk.EventView} event @returns {(() => Child)[]} */
function parts(event) {
  const champion = event.ranking.filter(({ place }) => place <= 3);
  return [
    ...(champion.length ? [() => podium(champion)] : []),
    ...event.pools.map((pool) => () => standingsTable(pool)),
    ...brackets(event).map((part) => () => part),
  ];
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
}

follow("api/event/announcements", (/** @type {string[]} */ texts) => refresh(at("announcements"), texts, () => texts.map((text) => el("p", { class: "announcement" }, text))));
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
