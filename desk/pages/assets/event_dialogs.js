// The dialogs of the event: a result, a coach.

import { dataText, el, find } from "./dom.js";
import { notify, tryChange } from "./event.js";
import { timeText } from "./event_format.js";

/** Revision of the event that the open dialog shows: what somebody else changes since is not overwritten. */
let seen = "";

/** Change the event as whoever sees the open dialog knows it. @param {string} path @param {unknown} body @param {string} [method] */
const save = (path, body, method) => tryChange(path, body, method, { seen, changed: (revision) => (seen = revision) });

/**
 * Open a dialog with a form; `saved` gets its data and returns why it was refused, which is shown in the dialog, or nothing.
 *
 * @param {HTMLDialogElement} dialog
 * @param {string} title
 * @param {Child[]} fields
 * @param {(data: FormData) => Promise<string>} saved
 * @param {Child[]} [extra]
 */
function open(dialog, title, fields, saved, extra = []) {
  const form = el(
    "form",
    { method: "dialog" },
    el("h2", {}, title),
    ...fields,
    el("p", { class: "refusal", role: "alert", hidden: true }),
    el("div", { class: "row" }, el("button", { class: "main", type: "submit" }, "Save"), ...extra, el("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, "Cancel")),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = find(form, "button.main", HTMLButtonElement);
    button.disabled = true;
    refused(dialog, await saved(new FormData(form)));
    button.disabled = false;
  });
  dialog.replaceChildren(form);
  dialog.showModal();
}

/** Show in a dialog why a change was refused, or close it. @param {HTMLDialogElement} dialog @param {string} refusal */
function refused(dialog, refusal) {
  if (refusal === "") {
    notify("Saved.");
    return dialog.close();
  }
  const place = find(dialog, ".refusal");
  place.textContent = refusal;
  place.hidden = false;
  place.scrollIntoView({ block: "nearest" });
}

/** @param {string} text @param {Attributes<HTMLInputElement>} attributes */
const field = (text, attributes) => el("label", {}, text, el("input", attributes));

/**
 * Enter, correct or remove a result; the director may move the game. What another director changes meanwhile is not overwritten.
 *
 * @param {HTMLDialogElement} dialog
 * @param {Desk.MatchView} match
 * @param {Desk.EventView} event
 * @param {boolean} director
 */
export function resultForm(dialog, match, event, director) {
  seen = event.revision;
  const { result } = match;
  const path = `/matches/${match.id}`;
  /** @param {Side} side */
  const points = (side) => field(`Points of ${match[side].name}`, { name: side, type: "number", inputmode: "numeric", min: 0, max: 999, required: true, value: result?.[side] ?? "" });
  /** @param {"overtime_winner" | "forfeited_by"} name @param {string} label @param {string} none @param {string} did */
  const side = (name, label, none, did) =>
    el("label", {}, label, el("select", { name }, [["", none], ["home", `${match.home.name} ${did}`], ["away", `${match.away.name} ${did}`]].map(([value, text]) => el("option", { value, selected: (result?.[name] ?? "") === value }, text))));
  const fields = [
    match.dispute ? el("p", { class: "refusal" }, match.dispute) : null,
    points("home"),
    points("away"),
    el("label", { class: "check" }, el("input", { name: "overtime", type: "checkbox", checked: result?.overtime ?? false }), "Overtime"),
    side("overtime_winner", "Won in overtime, where the points are even", "shown by the points", "won"),
    side("forfeited_by", "Forfeit", "no", "did not play"),
    field(`Signed by the coach of ${match.home.name}`, { name: "signed_home", maxlength: 80, value: result?.signed_by[0] ?? "" }),
    field(`Signed by the coach of ${match.away.name}`, { name: "signed_away", maxlength: 80, value: result?.signed_by[1] ?? "" }),
    field("Note", { name: "note", maxlength: 400, value: result?.note ?? "" }),
  ];
  /** @type {Child[]} */
  const extra = [];
  const remove = async () => confirm(`Remove the result of ${match.id}?`) && refused(dialog, await save(`${path}/result`, null, "DELETE"));
  if (director && (result !== null || match.dispute)) extra.push(el("button", { type: "button", class: "warn", onclick: remove }, "Remove result"));
  if (director && result === null && match.state !== "in_play" && event.tables.length > 0) extra.push(el("button", { type: "button", onclick: () => placeForm(dialog, match, event) }, "Move"));
  if (director && result === null) extra.push(el("button", { type: "button", onclick: () => officialsForm(dialog, match) }, "Officials"));
  open(
    dialog,
    `${match.id}: ${match.home.name} against ${match.away.name}`,
    fields.filter(Boolean),
    (data) =>
      save(
        `${path}/result`,
        {
          home: Number(data.get("home")),
          away: Number(data.get("away")),
          overtime: data.get("overtime") !== null,
          overtime_winner: data.get("overtime_winner") || null,
          forfeited_by: data.get("forfeited_by") || null,
          signed_by: [dataText(data, "signed_home"), dataText(data, "signed_away")],
          note: dataText(data, "note"),
        },
        "PUT",
      ),
    extra,
  );
}

/** Say who referees or operates a game. @param {HTMLDialogElement} dialog @param {Desk.MatchView} match */
function officialsForm(dialog, match) {
  open(dialog, `Officials of ${match.id}`, [field("Names of referee and operator, separated by commas", { name: "officials", maxlength: 320, value: match.officials.join(", ") })], (data) =>
    save(`/matches/${match.id}/officials`, dataText(data, "officials").split(",").map((name) => name.trim()).filter(Boolean), "PUT"),
  );
}

/** Move a game, swap it with another, or hold it. @param {HTMLDialogElement} dialog @param {Desk.MatchView} match @param {Desk.EventView} event */
function placeForm(dialog, match, event) {
  const slots = event.slots.length ? event.slots : Array.from({ length: Math.max(...event.matches.map(({ slot }) => slot ?? 0)) + 4 }, () => "");
  const others = event.matches.filter(({ id, slot, state }) => id !== match.id && slot !== null && (state === "ready" || state === "open"));
  /** @param {string} name @param {string[][]} options @param {string} chosen */
  const select = (name, options, chosen) => el("select", { name }, options.map(([value, text]) => el("option", { value, selected: value === chosen }, text)));
  /** @param {string} how */
  const hold = async (how) => refused(dialog, await save(`/matches/${match.id}/held`, how, "PUT"));
  open(
    dialog,
    `Move ${match.id}`,
    [
      el("label", {}, "Table", select("table", event.tables.map((table) => [table, table]), match.table)),
      el("label", {}, "Time", select("slot", slots.map((time, slot) => [String(slot), timeText(time) || `round ${slot + 1}`]), String(match.slot ?? 0))),
      match.slot === null ? null : el("label", {}, "Or swap it with", select("swap", [["", "no game"], ...others.map((other) => [other.id, `${other.id}: ${other.home.name} – ${other.away.name}`])], "")),
    ].filter(Boolean),
    (data) =>
      data.get("swap")
        ? save("/swap", { matches: [match.id, data.get("swap")] })
        : save(`/matches/${match.id}/place`, { table: data.get("table"), slot: Number(data.get("slot")) }, "PUT"),
    match.postponed || match.fixed
      ? [el("button", { type: "button", onclick: () => hold("free") }, "Leave it to the schedule")]
      : [match.slot === null ? null : el("button", { type: "button", onclick: () => hold("fixed") }, "Fix it there"), el("button", { type: "button", onclick: () => hold("postponed") }, "Postpone it")].filter(Boolean),
  );
}

/**
 * Register a coach, or change what is registered.
 *
 * @param {HTMLDialogElement} dialog
 * @param {?Desk.Entrant} entrant
 * @param {Desk.EventView} event
 */
export function coachForm(dialog, entrant, event) {
  seen = entrant === null ? "" : event.revision; // who is new is in nobody's way
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
    if (confirm(`Withdraw ${entrant?.team || entrant?.coach}? Games that are left are forfeited.`)) refused(dialog, await save(path, null, "DELETE"));
  };
  const back = async () => refused(dialog, await save(`${path}/return`, null));
  const drawn = event.matches.length > 0;
  const others = event.entrants.filter(({ id }) => id !== entrant?.id);
  const exchange = el("select", { "aria-label": "Exchange places in the draw with" }, el("option", { value: "" }, "Exchange places in the draw with …"), others.map(({ id, team, coach }) => el("option", { value: id }, team || coach)));
  exchange.addEventListener("change", async () => exchange.value && refused(dialog, await save("/draw/swap", [entrant?.id, exchange.value])));
  open(
    dialog,
    entrant === null ? "Register a coach" : entrant.team || entrant.coach,
    fields.filter(Boolean),
    async (data) => {
      const typed = rosterOf(roster);
      if (typed === null) return "A line of the roster can't be read.";
      return save(
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
    entrant === null ? [] : [el("button", { type: "button", class: "warn", onclick: entrant.withdrawn ? back : withdraw }, entrant.withdrawn ? "Take back in" : "Withdraw"), ...(drawn ? [exchange] : [])],
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
