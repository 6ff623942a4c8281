// Overlays of the event for OBS: standings (turning through the pools), the bracket, the next games.

import { el, refresh } from "./dom.js";
import { follow } from "./event_feed.js";
import { currentSlot, timeText } from "./event_format.js";
import { brackets, gameCard, standingsTable } from "./event_tables.js";

const TURN_MS = 10_000;
const NEXT_SHOWN = 6;

const kind = location.pathname.split("/").at(-1);
const stage = document.getElementById("stage");
stage.className = kind;
const theme = new URLSearchParams(location.search).get("theme");
if (theme === "light") document.documentElement.dataset.theme = "light";

let event = null;
let turn = 0;

const PARTS = {
  standings: () => event.pools.map((pool) => () => standingsTable(pool)),
  bracket: () => brackets(event).map((part) => () => part),
  next: () => [nextGames],
};

function nextGames() {
  const slot = currentSlot(event.matches);
  const left = event.matches.filter((match) => match.slot !== null && slot !== null && match.slot >= slot && match.state !== "not_needed");
  left.sort((a, b) => a.slot - b.slot);
  return el(
    "div",
    { class: "nexts" },
    el("h3", {}, slot === null ? "All games are played" : `From ${timeText(event.slots[slot] ?? "") || "now"}`),
    left.slice(0, NEXT_SHOWN).map((match) => gameCard(match, event.matches)),
  );
}

function show() {
  if (event === null) return;
  const parts = PARTS[kind]?.() ?? [];
  refresh(stage, [event.revision, parts.length ? turn % parts.length : -1], () =>
    parts.length === 0 ? [] : [el("section", { class: "plate" }, el("h2", {}, event.name), parts[turn % parts.length]())],
  );
}

follow("api/event", (value) => {
  event = value;
  show();
});
setInterval(() => {
  turn += 1;
  show();
}, TURN_MS);
