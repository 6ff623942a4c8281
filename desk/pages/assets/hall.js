// The big screen of the hall: what is played now and next, then standings and brackets in turn. Nothing to tap.

import { el, refresh, setText } from "./dom.js";
import { follow } from "./event_feed.js";
import { currentSlot, ordinal, timeText } from "./event_format.js";
import { brackets, gameCard, standingsTable } from "./event_tables.js";

const TURN_MS = 12_000;
const SLOTS_SHOWN = 2;

const at = (id) => document.getElementById(id);
let event = null;
let turn = 0;

function showGames() {
  const slot = currentSlot(event.matches);
  refresh(at("now"), [event.revision, slot], () => {
    if (slot === null) return el("p", { class: "muted" }, event.matches.length ? "All games are played." : "The draw is not made yet.");
    const slots = [...new Set(event.matches.map((match) => match.slot))].filter((number) => number !== null && number >= slot);
    return slots
      .sort((a, b) => a - b)
      .slice(0, SLOTS_SHOWN)
      .map((number, place) =>
        el(
          "div",
          { class: "slot" },
          el("h3", {}, place === 0 ? "Now" : "Next", el("small", {}, ` ${timeText(event.slots[number] ?? "")}`)),
          el("div", { class: "list" }, event.matches.filter((match) => match.slot === number && match.state !== "not_needed").map((match) => gameCard(match, event.matches))),
        ),
      );
  });
}

function parts() {
  const champion = event.ranking.filter(({ place }) => place <= 3);
  return [
    ...(champion.length ? [() => podium(champion)] : []),
    ...event.pools.map((pool) => () => standingsTable(pool)),
    ...brackets(event).map((part) => () => part),
  ];
}

function podium(ranks) {
  return el(
    "div",
    { class: "podium" },
    el("h2", {}, "Final places"),
    el("ol", {}, ranks.map(({ place, name }) => el("li", {}, el("b", {}, ordinal(place)), el("span", {}, name)))),
  );
}

function show() {
  if (event === null) return;
  setText(at("event-name"), event.name);
  showGames();
  const all = parts();
  refresh(at("turning"), [event.revision, all.length ? turn % all.length : -1], () => (all.length ? all[turn % all.length]() : []));
}

follow("api/event", (value) => {
  event = value;
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
