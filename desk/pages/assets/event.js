// The event for its director, and for those who enter results.

import { childrenOf, el, elementsOf, refresh, setText } from "./dom.js";
import { coachForm, resultForm } from "./event_dialogs.js";
import { follow, LINK_TEXTS } from "./event_feed.js";
import { ordinal, timeText, turns } from "./event_format.js";
import { setupSection } from "./event_setup.js";
import { brackets, gameCard, standingsTable, swatch } from "./event_tables.js";
import { counted } from "./format.js";
import { errorText, RefusedError, send } from "./send.js";

const NOTICE_MS = 9_000;
const TABS = { games: "Games", standings: "Standings", coaches: "Coaches", setup: "Set-up" };
const TAB_NAMES = /** @type {(keyof typeof TABS)[]} */ (Object.keys(TABS));

const at = elementsOf("event");
/** @type {?string} of this device; null where it is not paired */
let role = null;
let noticeTimer = 0;
/** When this page last changed the event; what was requested before that is older. */
let changed_ms = 0;

/** Of the event as it is shown: what a change is based on. */
let revision = "";

/** Revision as whoever changes the event has seen it; what else the change does is known; what follows where somebody else has changed the same since, by the revision that is shown then. @typedef {{ seen?: string, confirmed?: boolean, changed?: (revision: string) => void }} ChangeOptions */

/**
 * Change the event by a request, and show it as it is afterwards. What else the change does is asked first. Returns why the request was refused; empty
 * where it was accepted, or where a question was answered by no.
 *
 * @param {string} path
 * @param {unknown} body
 * @param {string} [method]
 * @param {ChangeOptions} [options]
 * @returns {Promise<string>}
 */
export async function tryChange(path, body, method = "POST", { seen = revision, confirmed = false, changed = () => {} } = {}) {
  try {
    const event = await send(`api/event${path}${confirmed ? "?confirmed=true" : ""}`, body, { method, headers: seen ? { "If-Match": `"${seen}"` } : {} });
    changed_ms = performance.now();
    show(event);
    return "";
  } catch (error) {
    if (error instanceof RefusedError && error.code === "question" && !confirmed) {
      return confirm(error.message) ? tryChange(path, body, method, { seen, confirmed: true, changed }) : "Nothing was changed.";
    }
    if (error instanceof RefusedError && error.code === "changed") {
      const newest = await send("api/event", null, { method: "GET" }).catch(() => null);
      if (newest !== null) {
        changed(newest.revision); // what is shown now is known: to save again is to mean it
        show(newest);
      }
    }
    return errorText(error);
  }
}

/** Change the event, and say at the top of the page why not, or that it is done. @param {string} path @param {unknown} body @param {string} [method] @param {string} [done] @param {ChangeOptions} [options] */
export async function change(path, body, method = "POST", done = "Done.", options = {}) {
  const refusal = await tryChange(path, body, method, options);
  notify(refusal || done);
  return refusal === "";
}

/** The revision that is shown: dialogs keep it from when they were opened. */
export const shownRevision = () => revision;

/** Say something at the top of the page. @param {string} text */
export function notify(text) {
  at("notice").textContent = text;
  at("notice").hidden = false;
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => (at("notice").hidden = true), NOTICE_MS);
}

/** @param {Desk.EventView} event */
function show(event) {
  revision = event.revision;
  document.title = `${event.name} – Downfield`;
  setText(at("event-name"), event.name);
  refresh(at("game-lists"), [event.revision, role], () => gamesPart(event));
  refresh(at("standings"), event.revision, () => standingsPart(event));
  refresh(at("coaches"), [event.revision, role], () => coachesPart(event));
  if (role === "admin") refresh(at("setup"), event.revision, () => setupSection(event));
  refresh(at("undo"), [event.undo, role], () =>
    role === "admin" && event.undo ? el("button", { type: "button", class: "small quiet", onclick: () => undoLast(event) }, `Undo: ${event.undo}`) : [],
  );
}

/** @param {Desk.EventView} event */
async function undoLast(event) {
  if (confirm(`Undo “${event.undo}”?`)) await change("/changes/last", null, "DELETE", "Undone.");
}

const mayEnter = () => ["operator", "referee", "admin"].includes(role ?? "");

/** Games are buttons for those who may enter their results. @param {Desk.EventView} event @param {Desk.MatchView} match */
function cardOptions(event, match) {
  const open = mayEnter() && ["ready", "played", "in_play", "stopped"].includes(match.state);
  return open ? { action: () => resultForm(at("dialog"), match, event, role === "admin") } : {};
}

/** @param {Desk.EventView} event */
function gamesPart(event) {
  if (event.matches.length === 0) return el("p", { class: "muted" }, "The draw is not made yet.");
  const { slot, now, overdue, later } = turns(event);
  const played = event.matches.filter((match) => match.state === "played").reverse();
  /** @param {string} title @param {Desk.MatchView[]} games */
  const list = (title, games) =>
    games.length === 0 ? null : el("div", {}, el("h2", {}, title), el("div", { class: "list" }, games.map((match) => gameCard(match, event.matches, cardOptions(event, match)))));
  return [
    list("Result missing", overdue),
    list(slot === null ? "To be played" : `Now: ${timeText(event.slots[slot] ?? "") || `round ${slot + 1}`}`, now),
    event.byes.length ? el("p", { class: "muted" }, `Byes, round by round: ${event.byes.join(", ")}`) : null,
    list("Later", later),
    list("Played", played),
  ];
}

/** @param {Desk.EventView} event */
function standingsPart(event) {
  const ranks = event.ranking.map(({ place, name, text }) => el("li", {}, el("b", {}, ordinal(place)), el("span", {}, name), el("small", { class: "muted" }, text)));
  return [
    ranks.length ? el("div", { class: "plate" }, el("h2", {}, "Places"), el("ol", { class: "ranks" }, ranks)) : null,
    ...event.pools.map(standingsTable),
    ...brackets(event, (match) => cardOptions(event, match)),
    el("p", { class: "row noprint" }, csvLink("games", "Games (CSV)"), csvLink("standings", "Standings (CSV)"), el("button", { type: "button", class: "small", onclick: () => print() }, "Print")),
  ];
}

/** What of a roster breaks the event's limits, for people. @param {Desk.Entrant} entrant @param {Desk.Rules} rules */
function rosterFaults({ figures }, { heaviest_g: most, most_figures: count }) {
  const kept = figures.filter(({ refused }) => !refused);
  const heavy = kept.filter(({ grams }) => most > 0 && grams !== null && grams > most).map(({ number }) => number);
  return [
    heavy.length ? `over ${most} g: no. ${heavy.join(", ")}` : "",
    count > 0 && kept.length > count ? `${counted(kept.length, "figure")}, ${count} allowed` : "",
  ].filter(Boolean).join(" · ");
}

/** @param {Desk.EventView} event */
function coachesPart(event) {
  const admin = role === "admin";
  const rows = event.entrants.map((entrant) => {
    const weighed = entrant.figures.filter(({ grams }) => grams !== null).length;
    const refused = entrant.figures.filter((figure) => figure.refused).length;
    const roster = entrant.figures.length ? `${counted(entrant.figures.length, "figure")}, ${weighed} weighed${refused ? `, ${refused} refused` : ""}` : "no roster";
    const faults = rosterFaults(entrant, event.rules);
    return el(
      "li",
      { class: `plate coach${entrant.withdrawn ? " withdrawn" : ""}` },
      swatch(entrant.color),
      el("div", {}, el("b", {}, entrant.team || entrant.coach), el("small", { class: "muted" }, [entrant.team ? entrant.coach : "", entrant.club, entrant.seed ? `seed ${entrant.seed}` : "", roster, entrant.withdrawn ? "withdrew" : ""].filter(Boolean).join(" · ")), faults ? el("small", { class: "fault" }, faults) : null),
      mayEnter() && !entrant.withdrawn ? el("button", { type: "button", class: "small", "aria-pressed": String(event.here.includes(entrant.id)), onclick: () => change(`/entrants/${entrant.id}/here`, !event.here.includes(entrant.id), "PUT") }, event.here.includes(entrant.id) ? "Here ✓" : "Check in") : null,
      admin ? el("button", { type: "button", class: "small", onclick: () => coachForm(at("dialog"), entrant, event) }, "Edit") : null,
    );
  });
  return [
    admin ? el("p", { class: "row" }, el("button", { type: "button", class: "main", onclick: () => coachForm(at("dialog"), null, event) }, "Register a coach"), filePicker("entrants", "Coaches from CSV"), filePicker("figures", "Rosters from CSV")) : null,
    el("ul", { class: "coaches" }, rows),
    rows.length === 0 ? el("p", { class: "muted" }, "Nobody is registered yet.") : el("p", { class: "row noprint" }, csvLink("entrants", "Coaches (CSV)"), csvLink("figures", "Rosters (CSV)")),
  ];
}

/** @param {string} name @param {string} text */
const csvLink = (name, text) => el("a", { class: "button small", href: `api/event/${name}.csv`, download: `${name}.csv` }, text);

/** @param {string} name @param {string} text */
function filePicker(name, text) {
  const input = el("input", { type: "file", accept: ".csv,text/csv", hidden: true });
  input.addEventListener("change", async () => {
    const [file] = input.files ?? [];
    if (file === undefined) return;
    const response = await fetch(`api/event/${name}.csv`, { method: "POST", headers: { "Content-Type": "text/csv" }, body: await file.text() });
    const answer = await response.json();
    input.value = "";
    if (response.ok) show(answer);
    else notify(answer.detail ?? "The file was refused.");
  });
  return el("label", { class: "button small" }, text, input);
}

/** @param {keyof typeof TABS} name */
function openTab(name) {
  for (const other of TAB_NAMES) at(other).hidden = other !== name;
  for (const button of childrenOf(at("tabs"))) button.setAttribute("aria-selected", String(button.dataset.tab === name));
  history.replaceState(null, "", `#${name}`);
}

function showTabs() {
  const names = TAB_NAMES.filter((name) => name !== "setup" || role === "admin");
  at("tabs").replaceChildren(...names.map((name) => el("button", { type: "button", role: "tab", "data-tab": name, "aria-controls": name, onclick: () => openTab(name) }, TABS[name])));
  openTab(names.find((name) => name === location.hash.slice(1)) ?? "games");
}

/** What waits for the director, with what can be done. @param {Desk.Waiting[]} items */
function showWaiting(items) {
  at("waiting").hidden = items.length === 0;
  refresh(at("waiting"), [items, role], () =>
    items.map((item) =>
      el(
        "li",
        { class: `plate ${item.kind}` },
        el("b", {}, item.text),
        el("p", { class: "muted" }, item.reason),
        role === "admin" ? el("div", { class: "row" }, item.choices.map((choice) => el("button", { type: "button", class: "small", onclick: () => choose(item, choice) }, choice.text))) : null,
      ),
    ),
  );
}

/** @param {Desk.Waiting} item @param {Desk.Choice} choice */
const choose = ({ game }, { match, result, turned }) =>
  result === null
    ? change(`/games/${game}/match`, { match, turned }, "PUT")
    : change(
        `/matches/${match}/result`,
        { home: result.home, away: result.away, overtime: result.overtime, overtime_winner: result.overtime_winner, forfeited_by: result.forfeited_by, signed_by: result.signed_by, note: result.note, game: result.game },
        "PUT",
      );

/** @type {{ role: ?string }} */
const session = await send("api/session", null, { method: "GET" }).catch(() => ({ role: null }));
role = session.role;
showTabs();
follow("api/event/waiting", showWaiting);
const showPolled = (/** @type {Desk.EventView} */ event, /** @type {number} */ requested_ms) => {
  if (requested_ms >= changed_ms) show(event); // an answer from before a change of this page would undo it on the screen
};
follow("api/event", showPolled, (link) =>
  refresh(at("state"), link, () => [el("span", { class: `dot ${link === "live" ? "ok" : "alarm"}` }), el("span", {}, ` ${LINK_TEXTS[link]}`), link === "unpaired" ? el("a", { class: "button small", href: "pair" }, "Pair this device") : null]),
);
