// The panel's forms: each starts from the current state and makes one declaration or command.

import { kindOptions, kindText } from "./call_kinds.js";
import { el } from "./dom.js";
import { SIDES, capitalize, formatClock, humanize } from "./format.js";
import {
  bindForm, checkbox, declaration, declarationButton, field, fieldSpot, number, optionalNumber, optionalValue, requestButton, round, seconds, select, showOnlyIf, sides, sideSelect,
  submitButton, teams, yardLine,
} from "./panel_fields.js";
import { logoField } from "./panel_logo.js";
import { ofType } from "./panel_legal.js";
import { teamChoice } from "./panel_schedule.js";
import { windowsField } from "./panel_windows.js";

/** @typedef {import("./panel_fields.js").SelectOption} SelectOption */

const CLAIMS = [
  "time_out", "review", "delay_of_game", "too_many_men", "offensive_pass_interference", "defensive_pass_interference",
  "gunner_interference",
];

const CARDS = [
  "run", "pass", "kickoff", "punt", "field_goal", "extra_point", "two_point", "onside", "kneel", "spike", "touch_punt",
  "fair_catch_kick",
];

/**
 * Words of a type as options: what may be declared first, the rest dimmed; unknown until the service has answered.
 *
 * @param {string} type
 * @param {string[]} words
 * @returns {SelectOption[]}
 */
function offered(type, words) {
  const refused = new Set(ofType(type).filter((entry) => !entry.allowed).map((entry) => entry.word));
  const options = words.map((name) => /** @type {SelectOption} */ ([name, capitalize(humanize(name)), refused.has(name)]));
  return [...options.filter(([, , isRefused]) => !isRefused), ...options.filter(([, , isRefused]) => isRefused)];
}

/** What a game can be set up for. */
const DUE = ["scrimmage", "kickoff", "free_kick", "try", "extra_point", "two_point"];

/** Start, stop and set the clock. @param {Feed} feed */
export function clock(feed) {
  const game = feed.value("game");
  const left = el("input", { name: "left", inputmode: "numeric", placeholder: "m:ss", value: formatClock(game?.clock.left_s ?? 0) });
  const set = submitButton("Set the clock", "");
  const form = el("form", { class: "grid" }, field("Time left", left), set);
  bindForm(form, set, () => {
    const left_s = seconds(left.value);
    return left_s === null ? null : declaration({ type: "clock", running: feed.value("game")?.clock.running ?? false, left_s });
  });
  return [
    el("div", { class: "row" }, declarationButton("Start clock", { type: "clock", running: true }, "go"), declarationButton("Stop clock", { type: "clock", running: false }, "stop")),
    form,
    game?.accepts.includes("claim") ? sides(feed, (side, name) => declarationButton(`Time-out ${name}`, { type: "claim", claim: "time_out", by: side })) : "",
  ];
}

/** Fouls and claims, if the rulebook uses them. @param {Feed} feed */
export function claims(feed) {
  const accepts = feed.value("game")?.accepts ?? [];
  return [...(accepts.includes("foul") ? [foul(feed)] : []), ...(accepts.includes("claim") ? [claim(feed)] : []), penalty()];
}

/** @param {Feed} feed */
function foul(feed) {
  const by = sideSelect(feed);
  const yards = number("yards", 5, 0, 100);
  const [first, loss, both] = ["Automatic first down", "Loss of down", "Both sides fouled: offsetting"].map((label) => checkbox(label));
  const name = el("input", { name: "name", maxlength: 80, placeholder: "for example: clipping" });
  const send = submitButton("Declare foul");
  const form = el("form", { class: "grid" }, field("By", by), field("Yards", yards), field("Foul", name, "wide"), first.label, loss.label, both.label, send);
  bindForm(form, send, () =>
    declaration(
      both.box.checked
        ? { type: "foul", by: by.value, name: name.value, offsetting: true }
        : { type: "foul", by: by.value, yards: yards.valueAsNumber, name: name.value, first_down: first.box.checked, loss_of_down: loss.box.checked },
    ),
  );
  return form;
}

/** @param {Feed} feed */
function claim(feed) {
  const what = select(offered("claim", CLAIMS));
  const by = sideSelect(feed);
  const send = submitButton("Declare claim");
  const form = el("form", { class: "grid" }, field("Claim", what), field("By", by), send);
  bindForm(form, send, () => declaration({ type: "claim", claim: what.value, by: by.value, player: null }));
  return form;
}

const penalty = () => el("p", { class: "muted" }, "For any other penalty, use “Call by hand”.");

/** Cards and their dice, for a rulebook that is played with cards. */
export function cards() {
  const kind = select(offered("card", CARDS));
  const shown = el("input", { required: true, maxlength: 20, placeholder: "7, 10F, inc" });
  const windows = windowsField();
  const [roll, reroll, back] = ["roll", "reroll", "return_to"].map((name) => optionalNumber(name, 1, 100));
  const dot = select([["", "none"], ["black", "black"], ["red", "red"], ["blue", "blue"]]);
  const out = checkbox("Ran out of bounds");
  const send = submitButton("Declare card");
  const form = el(
    "form",
    { class: "grid" },
    field("Card", kind),
    field("Text on the card", shown),
    field("Roll, 1 to 100", roll),
    field("Second roll", reroll),
    field("Dot", dot),
    field("Touchdown return up to", back),
    windows.photoLabel,
    windows.label,
    out.label,
    send,
  );
  form.addEventListener("input", () => (shown.required = windows.box.value.trim() === "")); // the roll selects it in the windows
  bindForm(form, send, () =>
    declaration({ type: "card", kind: kind.value, shown: shown.value, roll: optionalValue(roll), reroll: optionalValue(reroll), dot: dot.value || null, ran_out: out.box.checked, return_to: optionalValue(back) ?? 0, windows: windows.read() }),
  );
  const run = el("input", { required: true, maxlength: 20, placeholder: "yards, or F for a fumble" });
  const die = optionalNumber("roll", 1, 100);
  const returned = submitButton("Declare return");
  const second = el("form", { class: "grid" }, field("Text on the return", run), field("Roll, 1 to 100", die), returned);
  bindForm(second, returned, () => declaration({ type: "return", shown: run.value, roll: optionalValue(die) }));
  return [form, second];
}

/** A call made by hand. @param {Feed} feed */
export function manualCall(feed) {
  const [game, ball, scene] = [feed.value("game"), feed.value("ball"), feed.value("scene")];
  const carrier = scene?.figures.find((figure) => figure.id === ball?.player);
  const kind = select(kindOptions());
  /** @type {SelectOption[]} */
  const options = [["", "neither team"], ...teams(game)];
  const side = select(options);
  const spot = fieldSpot(feed, [carrier?.x_yd ?? game?.spot_yd ?? 50, carrier?.y_yd ?? game?.lateral_yd]);
  const note = el("input", { name: "note", maxlength: 200, placeholder: "reason, for the record" });
  const call = submitButton("Make this call");
  const form = el(
    "form",
    { class: "grid" },
    field("Call", kind, "wide"),
    field("In favor of", side),
    spot.labels,
    field("Note", note, "wide"),
    call,
  );
  bindForm(form, call, () => ({
    post: "api/calls",
    body: {
      kind: kind.value,
      text: kindText(kind.value, teams(game).find(([value]) => value === side.value)?.[1]),
      side: side.value || null,
      spot_yd: spot.spot_yd(),
      players: ball?.player ? [ball.player] : [],
      detail: "",
      note: note.value,
    },
  }));
  return [el("p", { class: "muted" }, "Takes effect at once. To take it back, tap Undo under “Declared”."), form];
}

/** Correct the state before the next play. @param {Feed} feed */
export function setUp(feed) {
  const game = feed.value("game");
  if (game === undefined) return [];
  const offense = sideSelect(feed, game.offense);
  const direction = select([["1", "to the right"], ["-1", "to the left"]], String(game.offense === game.possession ? game.direction : -game.direction));
  const due = select(DUE.map((name) => [name, capitalize(humanize(name))]), DUE.includes(game.due) ? game.due : "scrimmage");
  const line = yardLine(game, game.spot_yd, feed.value("line_up")?.field?.length_yd);
  const turn = () => line.turn(/** @type {Side} */ (offense.value), Number(direction.value));
  turn();
  line.show(game.spot_yd);
  for (const choice of [offense, direction]) choice.addEventListener("change", turn);
  const left = SIDES.map((side) => number(`${side}_time_outs`, game[side].time_outs ?? 0, 0, 9));
  const down = number("down", game.down, 1, 4);
  const distance = number("distance", game.goal_to_go ? 0 : round(game.distance_yd), 0, 100, 0.1);
  const period = number("period", game.period, 1, 9);
  const [home, away] = SIDES.map((side) => number(side, game[side].points, 0, 200));
  const scrimmage = [
    line.label,
    field("Down", down),
    field("Yards to go (0 for goal)", distance),
  ];
  const hasTimeOuts = game.home.time_outs !== null;
  const set = submitButton("Correct the game");
  const form = el(
    "form",
    { class: "grid" },
    field("Next play", due, "wide"),
    field("Offense (receivers of a kick, scorers before a try)", offense),
    field("Direction", direction),
    scrimmage,
    field(`Points ${game.home.short}`, home),
    field(`Points ${game.away.short}`, away),
    field("Period", period),
    hasTimeOuts && [field(`Time-outs left ${game.home.short}`, left[0]), field(`Time-outs left ${game.away.short}`, left[1])],
    set,
  );
  showOnlyIf(form, scrimmage, () => due.value === "scrimmage");
  bindForm(form, set, () => {
    const isScrimmage = due.value === "scrimmage";
    return declaration({
      type: "set_up",
      offense: offense.value,
      direction: Number(direction.value),
      ...(isScrimmage ? { spot_yd: line.x_yd(), down: down.valueAsNumber, distance_yd: distance.valueAsNumber } : {}),
      due: due.value,
      period: period.valueAsNumber,
      score: [home.valueAsNumber, away.valueAsNumber],
      hash: game.hash,
      ...(hasTimeOuts ? { time_outs: left.map((input) => input.valueAsNumber) } : {}),
    });
  });
  return [form];
}

/** Commands to the rig. */
export function rig() {
  /** @param {string} label @param {RequestBody} body */
  const command = (label, body) => requestButton(label, "api/commands", body);
  return [
    el("div", { class: "row" }, command("Suspend camera calls", { command: "suspend", on: true }), command("Resume camera calls", { command: "suspend", on: false })),
    el("div", { class: "row" }, command("Record", { command: "record", on: true }), command("Stop recording", { command: "record", on: false })),
    el("div", { class: "row" }, command("Recalibrate", { command: "recalibrate" }), el("a", { class: "button small", href: "camera" }, "Camera page")),
  ];
}

/** The rulebooks that a game can be played by. @returns {Promise<Service.RulebookSummary[]>} */
async function savedBooks() {
  const response = await fetch("api/rulebooks", { credentials: "same-origin" });
  return response.ok ? response.json() : [];
}

/** A new game: its rulebook and its teams. @param {Feed} feed */
export function newGame(feed) {
  const game = feed.value("game");
  const rulebook = select([["", "same as now"]]);
  savedBooks()
    .then((books) => rulebook.append(...books.map((book) => el("option", { value: book.name }, book.title || book.name))))
    .catch(() => {}); // the current one can still be chosen
  /** @param {Side} side */
  const teamInputs = (side) => {
    const team = game?.[side] ?? { name: capitalize(side), short: capitalize(side[0]), color: "#1d3f72", ink: "#ffffff", logo: null };
    const logo = logoField(`Logo of the ${side} team`, team.logo);
    return {
      logoField: logo.element,
      inputs: {
        name: el("input", { required: true, maxlength: 60, value: team.name }),
        short: el("input", { required: true, maxlength: 4, value: team.short }),
        color: el("input", { type: "color", value: team.color }),
        ink: el("input", { type: "color", value: team.ink }),
        logo: logo.input,
      },
    };
  };
  const sheets = { home: teamInputs("home"), away: teamInputs("away") };
  const confirmEnd = checkbox("End the current game");
  confirmEnd.box.required = true;
  const begin = submitButton("Start the new game");
  const form = el(
    "form",
    { class: "grid" },
    field("Rulebook", rulebook, "wide"),
    SIDES.map((side) => {
      const { inputs, logoField } = sheets[side];
      return [
        teamChoice(`Saved team, ${side}`, inputs),
        field(`${capitalize(side)} team`, inputs.name, "wide"),
        field("Short name", inputs.short),
        el("div", { class: "colors" }, field("Color", inputs.color), field("Text color", inputs.ink)),
        logoField,
      ];
    }),
    confirmEnd.label,
    begin,
  );
  /** @param {Record<string, { value: ?string }>} team */
  const values = (team) => Object.fromEntries(Object.entries(team).map(([name, input]) => [name, input.value]));
  bindForm(form, begin, () => ({
    post: "api/games",
    body: { rulebook: rulebook.value || null, home: values(sheets.home.inputs), away: values(sheets.away.inputs), title: "" },
  }));
  return [form];
}
