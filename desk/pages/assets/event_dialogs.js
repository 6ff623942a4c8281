// The dialogs of the event: a result, a coach.

import { dataText, el, find } from "./dom.js";
import { timeText } from "./event_format.js";

/** Changes the event by a request: see event.js. @typedef {typeof import("./event.js").change} Change */

/**
 * Open a dialog with a form; `save` gets its data and says whether it may close.
 *
 * @param {HTMLDialogElement} dialog
 * @param {string} title
 * @param {Child[]} fields
 * @param {(data: FormData) => Promise<boolean>} save
 * @param {Child[]} [extra]
 */
function open(dialog, title, fields, save, extra = []) {
  const form = el(
    "form",
    { method: "dialog" },
    el("h2", {}, title),
    ...fields,
    el("div", { class: "row" }, el("button", { class: "main", type: "submit" }, "Save"), ...extra, el("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, "Cancel")),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = find(form, "button.main", HTMLButtonElement);
    button.disabled = true;
    if (await save(new FormData(form))) dialog.close();
    button.disabled = false;
  });
  dialog.replaceChildren(form);
  dialog.showModal();
}

/** @param {string} text @param {Attributes<HTMLInputElement>} attributes */
const field = (text, attributes) => el("label", {}, text, el("input", attributes));

/**
 * Enter, correct or remove a result; the director may move the game.
 *
 * @param {HTMLDialogElement} dialog
 * @param {Desk.MatchView} match
 * @param {Desk.EventView} event
 * @param {{ change: Change, director: boolean }} parts
 */
export function resultForm(dialog, match, event, { change, director }) {
  const { result } = match;
  const path = `/matches/${match.id}`;
  /** @param {Side} side */
  const points = (side) => field(`Points of ${match[side].name}`, { name: side, type: "number", inputmode: "numeric", min: 0, max: 999, required: true, value: result?.[side] ?? "" });
  const forfeit = el(
    "label",
    {},
    "Forfeit",
    el("select", { name: "forfeited_by" }, [["", "no"], ["home", `${match.home.name} did not play`], ["away", `${match.away.name} did not play`]].map(([value, text]) => el("option", { value, selected: (result?.forfeited_by ?? "") === value }, text))),
  );
  const fields = [
    points("away"),
    points("home"),
    el("label", { class: "check" }, el("input", { name: "overtime", type: "checkbox", checked: result?.overtime ?? false }), "Overtime"),
    forfeit,
    field(`Signed by the coach of ${match.away.name}`, { name: "signed_away", maxlength: 80, value: result?.signed_by[0] ?? "" }),
    field(`Signed by the coach of ${match.home.name}`, { name: "signed_home", maxlength: 80, value: result?.signed_by[1] ?? "" }),
    field("Note", { name: "note", maxlength: 400, value: result?.note ?? "" }),
  ];
  /** @type {Child[]} */
  const extra = [];
  if (director && result !== null) extra.push(el("button", { type: "button", class: "warn", onclick: async () => (await change(`${path}/result`, null, "DELETE")) && dialog.close() }, "Remove result"));
  if (director && result === null && event.tables.length > 0) extra.push(el("button", { type: "button", onclick: () => placeForm(dialog, match, event, { change }) }, "Move"));
  open(
    dialog,
    `${match.id}: ${match.away.name} at ${match.home.name}`,
    fields,
    (data) =>
      change(
        `${path}/result`,
        {
          home: Number(data.get("home")),
          away: Number(data.get("away")),
          overtime: data.get("overtime") !== null,
          forfeited_by: data.get("forfeited_by") || null,
          signed_by: [dataText(data, "signed_away"), dataText(data, "signed_home")].filter(Boolean),
          note: dataText(data, "note"),
        },
        "PUT",
      ),
    extra,
  );
}

/** @param {HTMLDialogElement} dialog @param {Desk.MatchView} match @param {Desk.EventView} event @param {{ change: Change }} parts */
function placeForm(dialog, match, event, { change }) {
  const slots = event.slots.length ? event.slots : Array.from({ length: Math.max(...event.matches.map(({ slot }) => slot ?? 0)) + 4 }, () => "");
  /** @param {string} name @param {string[][]} options @param {string} chosen */
  const select = (name, options, chosen) => el("select", { name }, options.map(([value, text]) => el("option", { value, selected: value === chosen }, text)));
  open(
    dialog,
    `Move ${match.id}`,
    [
      el("label", {}, "Table", select("table", event.tables.map((table) => [table, table]), match.table)),
      el("label", {}, "Time", select("slot", slots.map((time, slot) => [String(slot), timeText(time) || `round ${slot + 1}`]), String(match.slot ?? 0))),
    ],
    (data) => change(`/matches/${match.id}/place`, { table: data.get("table"), slot: Number(data.get("slot")) }, "PUT"),
  );
}

/**
 * Register a coach, or change what is registered.
 *
 * @param {HTMLDialogElement} dialog
 * @param {?Desk.Entrant} entrant
 * @param {Desk.EventView} event
 * @param {{ change: Change }} parts
 */
export function coachForm(dialog, entrant, event, { change }) {
  /** @param {"coach" | "team" | "short" | "color" | "club" | "seed"} name */
  const value = (name) => entrant?.[name] ?? "";
  const figures = (entrant?.figures ?? []).map((figure) => [figure.number, figure.position, figure.grams ?? "", figure.note, ...(figure.refused ? ["refused"] : [])].join(", ")).join("\n");
  const roster = el("textarea", { rows: 6, placeholder: "28, RB, 3.9, base filed", oninput: ({ currentTarget }) => currentTarget.setCustomValidity("") }, figures);
  const fields = [
    field("Coach", { name: "coach", required: true, maxlength: 80, value: value("coach") }),
    field("Team", { name: "team", maxlength: 80, value: value("team"), placeholder: "as the coach" }),
    field("Short name", { name: "short", maxlength: 6, value: value("short") }),
    el("label", {}, "Color", el("input", { name: "color", type: "color", value: value("color") || "#2f6fb0" })),
    field("Club", { name: "club", maxlength: 80, value: value("club") }),
    event.matches.length === 0 ? field("Seed", { name: "seed", type: "number", min: 1, max: 256, value: value("seed"), placeholder: "none" }) : null,
    el("label", {}, "Roster: number, position, grams, note, refused", roster),
  ];
  const path = entrant === null ? "/entrants" : `/entrants/${entrant.id}`;
  const withdraw = async () => {
    if (confirm(`Withdraw ${entrant?.team || entrant?.coach}? Games that are left are forfeited.`) && (await change(path, null, "DELETE"))) dialog.close();
  };
  open(
    dialog,
    entrant === null ? "Register a coach" : entrant.team || entrant.coach,
    fields.filter(Boolean),
    async (data) => {
      const typed = rosterOf(roster);
      if (typed === null) return false;
      return change(
        path,
        {
          coach: dataText(data, "coach"),
          team: dataText(data, "team"),
          short: dataText(data, "short"),
          color: data.get("color"),
          club: dataText(data, "club"),
          seed: data.has("seed") ? (data.get("seed") ? Number(data.get("seed")) : null) : (entrant?.seed ?? null),
          figures: typed,
        },
        entrant === null ? "POST" : "PUT",
      );
    },
    entrant === null || entrant.withdrawn ? [] : [el("button", { type: "button", class: "warn", onclick: withdraw }, "Withdraw")],
  );
}

/**
 * A line of the roster; null if its weight is no number. What stands between weight and "refused" is the note, commas too.
 *
 * @param {string} line
 * @returns {?Desk.RegisteredFigure}
 */
function figureOf(line) {
  const [number = "", position = "", grams = "", ...rest] = line.split(",").map((part) => part.trim());
  const refused = rest.at(-1) === "refused";
  const weight = grams === "" ? null : Number(grams);
  if (Number.isNaN(weight)) return null;
  return { number, position, grams: weight, note: rest.slice(0, refused ? -1 : undefined).join(", "), refused };
}

/** The figures of a roster as it is typed; null, with the line shown, if one can't be read. @param {HTMLTextAreaElement} area */
function rosterOf(area) {
  const lines = area.value.split("\n").filter((line) => line.trim());
  const unread = lines.find((line) => figureOf(line) === null);
  area.setCustomValidity(unread === undefined ? "" : `“${unread.trim()}”: the weight, in grams, is no number.`);
  return area.reportValidity() ? lines.map(figureOf).filter((figure) => figure !== null) : null;
}
