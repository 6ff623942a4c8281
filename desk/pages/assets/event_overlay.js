// Overlays of the event for OBS: standings (turning through the pools), the bracket, the next games.

import { el, find, refresh } from "./dom.js";
import { follow } from "./event_feed.js";
import { timeText, turns } from "./event_format.js";
import { brackets, gameCard, standingsTable } from "./event_tables.js";

const TURN_MS = 10_000;
const NEXT_SHOWN = 6;

const kind = location.pathname.split("/").at(-1) ?? "";
const stage = find(document, "#stage");
stage.className = kind;
const theme = new URLSearchParams(location.search).get("theme");
if (theme === "light") document.documentElement.dataset.theme = "light";

/** @type {?Desk.EventView} */
let latest = null;
let turn = 0;

/** What each kind of overlay shows in turn. @type {Record<string, (event: Desk.EventView) => (() => Child)[]>} */
const PARTS = {
  standings: (event) => event.pools.map((pool) => () => standingsTable(pool)),
  bracket: (event) => brackets(event).map((part) => () => part),
  next: (event) => [() => nextGames(event)],
};

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
  refresh(stage, [event.revision, parts.length ? turn % parts.length : -1], () =>
    parts.length === 0 ? [] : [el("section", { class: "plate" }, el("h2", {}, event.name), parts[turn % parts.length]())],
  );
}

follow("api/event", (/** @type {Desk.EventView} */ event) => {
  latest = event;
  show();
});
setInterval(() => {
  turn += 1;
  show();
}, TURN_MS);
