// How the event is played: rules, times and tables, the draw, the schedule.

import { dataText, el } from "./dom.js";
import { change, notify, shownRevision } from "./event.js";
import { timeText, turns } from "./event_format.js";
import { counted } from "./format.js";
import { send } from "./send.js";

/** @type {Record<string, string>} */
const TIE_BREAKS = {
  head_to_head: "games against each other",
  opponents: "strength of opponents",
  point_difference: "point difference",
  points_for: "points scored",
  points_against: "points allowed",
};

/** The set-up's parts. @param {Desk.EventView} event */
export function setupSection(event) {
  const drawn = event.matches.length > 0;
  const played = event.matches.some((match) => match.result !== null);
  return [nameForm(event), rulesForm(event, drawn), clockForm(event), steps(event, drawn, played), papers(), trail(event)];
}

/** @param {string} text @param {string} name @param {number} value @param {number} min @param {number} max */
const number = (text, name, value, min, max) => el("label", {}, text, el("input", { name, type: "number", min, max, value, required: true }));
/** @param {string} text @param {string} name @param {number} value */
const grams = (text, name, value) => el("label", {}, text, el("input", { name, type: "number", min: 0, max: 1000, step: "any", value, required: true }));
/** @param {string} text @param {string} name @param {boolean} value */
const check = (text, name, value) => el("label", { class: "check" }, el("input", { type: "checkbox", name, checked: value }), text);

/** @type {Map<string, Map<string, string | boolean>>} what is filled in and not saved yet, by form and field: a change of the event makes the forms anew */
const drafts = new Map();
/** @type {Map<string, string>} revision of the event that a form was begun at: what somebody else changes since is not overwritten */
const begunAt = new Map();

/** @param {HTMLFormElement} element @param {string} title */
function keepDraft(element, title) {
  for (const field of element.elements) {
    const draft = drafts.get(title)?.get(field.getAttribute("name") ?? "");
    if (typeof draft === "boolean" && field instanceof HTMLInputElement) field.checked = draft;
    else if (typeof draft === "string" && isField(field)) field.value = draft;
  }
  element.addEventListener("input", ({ target }) => {
    if (!isField(target)) return;
    const draft = drafts.get(title) ?? new Map();
    if (!begunAt.has(title)) begunAt.set(title, shownRevision());
    drafts.set(title, draft.set(target.name, target.type === "checkbox" && target instanceof HTMLInputElement ? target.checked : target.value));
  });
}

/** @param {unknown} node @returns {node is HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} */
const isField = (node) => node instanceof HTMLInputElement || node instanceof HTMLTextAreaElement || node instanceof HTMLSelectElement;

/**
 * @param {string} title
 * @param {Child} fields
 * @param {(data: FormData, options: import("./event.js").ChangeOptions) => Promise<boolean>} save
 * @param {{ disabled?: boolean, note?: string }} [options]
 */
function form(title, fields, save, { disabled = false, note = "" } = {}) {
  const element = el(
    "form",
    { class: "plate" },
    el("h2", {}, title),
    note ? el("p", { class: "muted" }, note) : null,
    el("fieldset", { disabled }, el("div", { class: "fields" }, fields), el("button", { class: "small", type: "submit" }, "Save")),
  );
  element.addEventListener("submit", async (submitted) => {
    submitted.preventDefault();
    const draft = drafts.get(title);
    drafts.delete(title); // what is shown once it is saved is what the desk made of it
    const seen = begunAt.get(title) ?? shownRevision();
    const keep = () => draft !== undefined && drafts.set(title, draft);
    const changed = (/** @type {string} */ revision) => keep() && begunAt.set(title, revision);
    if (await save(new FormData(element), { seen, changed })) begunAt.delete(title);
    else keep();
  });
  keepDraft(element, title);
  return element;
}

/** @param {Desk.EventView} event */
function nameForm(event) {
  return form("Event", [el("label", {}, "Name", el("input", { name: "name", maxlength: 80, required: true, value: event.name }))], (data, options) => change("/name", { name: dataText(data, "name") }, "PUT", "Saved.", options));
}

/** @param {Desk.EventView} event @param {boolean} drawn */
function rulesForm(event, drawn) {
  const { rules } = event;
  const kinds = [["none", "none: pools or Swiss rounds only"], ["single", "single elimination"], ["double", "double elimination"]];
  const fields = [
    number("Pools (0 for none)", "pools", rules.pools, 0, 64),
    number("Swiss rounds in place of pools (0 for none)", "swiss", rules.swiss, 0, 20),
    number("How many of each pool, or of the Swiss rounds, go on", "advance", rules.advance, 1, 16),
    el("label", {}, "Then", el("select", { name: "elimination" }, kinds.map(([value, text]) => el("option", { value, selected: value === rules.elimination }, text)))),
    check("Consolation bracket: who does not go on from the pools, else first-round losers", "consolation", rules.consolation),
    check("Game for third place", "third_place", rules.third_place),
    el("label", {}, `Tie-breaks in order (${Object.values(TIE_BREAKS).join(", ")})`, el("textarea", { name: "tie_breaks", rows: 2 }, rules.tie_breaks.map((name) => TIE_BREAKS[name] ?? name).join(", "))),
    number("Largest point difference that counts (0: no limit)", "largest_difference", rules.largest_difference, 0, 999),
    grams("Heaviest figure with its base, grams (0: no limit)", "heaviest_g", rules.heaviest_g),
    number("Figures a coach may bring (0: any)", "most_figures", rules.most_figures, 0, 1000),
  ];
  /** @param {FormData} data @param {import("./event.js").ChangeOptions} options */
  const save = (data, options) =>
    change(
      "/rules",
      {
        pools: Number(data.get("pools")),
        swiss: Number(data.get("swiss")),
        advance: Number(data.get("advance")),
        elimination: data.get("elimination"),
        consolation: data.has("consolation"),
        third_place: data.has("third_place"),
        tie_breaks: dataText(data, "tie_breaks").split(",").map(tieBreakOf).filter(Boolean),
        largest_difference: Number(data.get("largest_difference")),
        heaviest_g: Number(data.get("heaviest_g")),
        most_figures: Number(data.get("most_figures")),
      },
      "PUT",
      "Saved.",
      options,
    );
  return form("Rules", fields, save, { disabled: drawn, note: drawn ? "The draw is made, so they stand." : "" });
}

/** @param {Desk.EventView} event */
function clockForm(event) {
  const { clock } = event;
  const sessions = clock.sessions.map(sessionText).join("\n");
  const fields = [
    number("Length of a game, minutes", "game_min", clock.game_min, 1, 600),
    number("From one game to the next, minutes", "change_min", clock.change_min, 0, 240),
    number("Games a coach rests between two", "rest_slots", clock.rest_slots, 0, 20),
    el("label", {}, "Tables, separated by commas", el("input", { name: "tables", value: event.tables.join(", ") })),
    el("label", {}, "Sessions, one a line", el("textarea", { name: "sessions", rows: 3, placeholder: "2026-09-05 9:00 to 18:00" }, sessions)),
  ];
  /** @param {FormData} data @param {import("./event.js").ChangeOptions} options */
  const save = (data, options) =>
    change(
      "/clock",
      {
        clock: {
          ...clock,
          game_min: Number(data.get("game_min")),
          change_min: Number(data.get("change_min")),
          rest_slots: Number(data.get("rest_slots")),
          sessions: dataText(data, "sessions").split("\n").filter((line) => line.trim()).map(sessionOf),
        },
        tables: dataText(data, "tables").split(",").map((part) => part.trim()).filter(Boolean),
      },
      "PUT",
      "Saved.",
      options,
    );
  return form("Times and tables", fields, save, { note: "All games of a round begin together, by the event's clock." });
}

const SESSION = /^(\d{4}-\d{2}-\d{2})[T\s]\s*(\d{1,2}:\d{2})\s*(?:to|until|[-–—])\s*(?:(\d{4}-\d{2}-\d{2})[T\s]\s*)?(\d{1,2}:\d{2})$/i;

/**
 * A session as it is typed: a day, and from when to when; another line goes to the desk as it is, which refuses it with the reason.
 *
 * @param {string} line
 * @returns {Desk.Session}
 */
function sessionOf(line) {
  const found = SESSION.exec(line.trim());
  if (found === null) {
    const [begins = "", ends = ""] = line.split(/\s+to\s+/i).map((part) => part.trim());
    return { begins, ends };
  }
  const [, day, from, lastDay = day, to] = found;
  return { begins: `${day}T${from.padStart(5, "0")}`, ends: `${lastDay}T${to.padStart(5, "0")}` };
}

/** @param {Desk.Session} session */
function sessionText({ begins, ends }) {
  const [day, from] = begins.split("T");
  const [lastDay, to] = ends.split("T");
  return `${day} ${from} to ${lastDay === day ? "" : `${lastDay} `}${to}`;
}

/** A tie-break by its words or its name; what is neither goes to the desk as it is. @param {string} text */
function tieBreakOf(text) {
  const typed = text.trim();
  const named = Object.entries(TIE_BREAKS).find(([, words]) => words.toLowerCase() === typed.toLowerCase());
  return named ? named[0] : typed;
}

/** @param {Desk.EventView} event @param {boolean} drawn @param {boolean} played */
function steps(event, drawn, played) {
  /** @param {string} text @param {string} path @param {string} method @param {boolean} disabled @param {string} [question] */
  const button = (text, path, method, disabled, question = "") =>
    el("button", { type: "button", class: method === "DELETE" ? "warn small" : "small", disabled, onclick: async () => (!question || confirm(question)) && (await change(path, null, method)) && path === "/schedule" && sayTablesWithoutRig(event) }, text);
  const begin = async () => {
    const name = prompt("Name of the new event. The present one is kept beside it as a file.");
    if (name?.trim()) await change("", { name: name.trim() });
  };
  return el(
    "div",
    { class: "plate" },
    el("h2", {}, "Draw and schedule"),
    el("p", { class: "row" }, button("Make the draw", "/draw", "POST", drawn, `Draw ${counted(event.entrants.length, "team")}? Rules and seeds stand from then on.`), button("Undo the draw", "/draw", "DELETE", !drawn || played, "Undo the draw?"), event.next_round ? button(`Pair round ${event.next_round}`, "/rounds", "POST", false) : null, button("Make the schedule", "/schedule", "POST", !drawn)),
    event.slots.length && drawn ? delayForm(event) : null,
    el("p", { class: "row" }, el("button", { type: "button", class: "small", onclick: () => drawLots(event) }, "Draw lots for ties"), el("button", { type: "button", class: "warn small", onclick: begin }, "Begin another event")),
  );
}

/** Say which of the event's tables no rig is called like, where there are rigs at all. @param {Desk.EventView} event */
async function sayTablesWithoutRig({ tables }) {
  /** @type {Desk.TableStatus[]} */
  const known = await send("api/tables", null, { method: "GET" }).catch(() => []);
  const names = known.map(({ name }) => name.toLowerCase());
  const without = names.length ? tables.filter((table) => !names.includes(table.toLowerCase())) : [];
  if (without.length) notify(`Done. No rig is called ${without.join(", ")}: a game there can't be sent, and its result is entered by hand.`);
}

/** What is printed, and the events before this one. */
function papers() {
  /** @param {string} path @param {string} text */
  const link = (path, text) => el("a", { class: "button small", href: path, target: "_blank" }, text);
  const earlier = el("ul", {});
  send("api/event/earlier", null, { method: "GET" }).then((/** @type {Desk.EarlierEvent[]} */ events) => {
    const open = (/** @type {Desk.EarlierEvent} */ one) => confirm(`Open ${one.name} again? The present event is kept beside it.`) && change(`/earlier/${one.number}`, null);
    earlier.replaceChildren(...events.map((one) => el("li", { class: "row" }, link(`event/earlier/${one.number}`, `${one.name}, ${one.season}`), el("button", { type: "button", class: "quiet small", onclick: () => open(one) }, "Open again"))));
  }, () => {});
  return el(
    "div",
    { class: "plate" },
    el("h2", {}, "Print, and earlier events"),
    el("p", { class: "row" }, link("event/sheets/tables", "Table sheets"), link("event/sheets/teams", "Team sheets"), link("event/sheets/scores", "Blank score sheets"), link("event/season", "Season standings"), link("event/disputes", "Disputed calls")),
    earlier,
  );
}

/** Have a round begin later, with those after it in its session. @param {Desk.EventView} event */
function delayForm(event) {
  const { slot } = turns(event);
  const round = el("select", {}, event.slots.map((time, at) => el("option", { value: String(at), selected: at === slot }, timeText(time))));
  const minutes = el("input", { type: "number", value: 10, min: -600, max: 600, required: true, "aria-label": "Minutes" });
  return el("p", { class: "row" }, round, minutes, "min later", el("button", { type: "button", class: "small", onclick: () => change("/delay", { slot: Number(round.value), minutes: Number(minutes.value) }) }, "Delay"));
}

/** Draw lots by the browser's random numbers: an order of all, used where nothing else breaks a tie. @param {Desk.EventView} event */
async function drawLots(event) {
  if (!confirm(`${event.lots ? "Lots are drawn already. Draw them again" : "Draw lots"} for every tie that nothing else breaks?`)) return;
  const order = event.entrants.map(({ id }) => id);
  for (let last = order.length - 1; last > 0; last -= 1) {
    const [value] = crypto.getRandomValues(new Uint32Array(1));
    const other = value % (last + 1);
    [order[last], order[other]] = [order[other], order[last]];
  }
  await change("/lots", order, "PUT", "Lots are drawn.");
}

/** @param {Desk.EventView} event */
function trail(event) {
  const lines = event.changes.map(({ at, by, text, why, old: was, new: now }) => el("li", {}, el("small", { class: "muted" }, `${at.replace("T", " ").slice(0, 16)} · ${by}`), ` ${text}${why ? `: ${why}` : ""}`, now.length ? el("small", { class: "muted" }, ` (${was.filter((line) => !line.endsWith("nothing")).map((line) => `before: ${line}`).join("; ") || "new"} → ${now.join("; ")})`) : null));
  return el("details", { class: "plate" }, el("summary", {}, "What was done"), el("ol", { class: "trail" }, lines));
}
