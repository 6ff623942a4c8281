// One form for everything that the rulebook knows: what may be declared now, and the inputs of its type.

import { el } from "./dom.js";
import { capitalize, formatPlayer, humanize } from "./format.js";
import { bindForm, declaration, field, number, optionalNumber, optionalValue, select, submitButton, teams, yardLine } from "./panel_fields.js";
import { allDeclarations } from "./panel_legal.js";
import { rosterInput } from "./panel_roster.js";
import { windowsField } from "./panel_windows.js";

/** @type {Record<string, string>} */
const LABELS = {
  line_up: "Figures on the board", set_up: "Set the game up", separated: "Figures apart", set: "Offense set", front: "Front of a figure", identities: "Who is who",
  carrier: "Has the ball", switch: "Board", pass: "Pass", pitch: "Pitch", pivots_done: "Pivots done", base_swap: "Base swapped", kick: "Kick",
  choice: "Choice", roll: "Dice", coin: "Coin", claim: "Claim", clock: "Clock", ball_placed: "Ball placed", pass_ended: "Pass ended",
  kick_ended: "Kick ended", play_ended: "Play ended", card: "Card", return: "Return", foul: "Foul",
};

/** @typedef {import("./panel_fields.js").SelectOption} SelectOption */

/** What the service gives as an example of a declaration: its fields as they stand now. @typedef {?Declaration} Example */

/** What an input is made from. @typedef {{ feed: Feed, entry: Service.LegalDeclaration }} Context */

/** An input of a declaration: the labels it shows, and the part of the declaration that it makes. @typedef {{ labels: HTMLElement[], read: () => RequestBody }} Input */

/** @typedef {(context: Context) => Input} Build */

/** @param {?string} label null where the control has its own @param {HTMLElement} control @param {Input["read"]} read @returns {Input} */
const asInput = (label, control, read) => ({ labels: [label === null ? control : field(label, control)], read });

/** An option for no value, where it is offered. @param {boolean} isOffered @param {string} text @returns {SelectOption[]} */
const option = (isOffered, text) => (isOffered ? [["", text]] : []);

/** A field of an entry's example. @param {Service.LegalDeclaration} entry @param {string} name @returns {any} of the type that the input of this name expects */
const exampleOf = (entry, name) => /** @type {Example} */ (entry.example)?.[name];

/** @param {string} name @param {string} label @returns {Build} */
const sideInput = (name, label) => ({ feed, entry }) => {
  const offered = teams(feed.value("game")).filter(([value]) => entry.by.length === 0 || entry.by.includes(value));
  const open = exampleOf(entry, name) === null;
  const choose = select([...option(open, "nobody in particular"), ...offered], exampleOf(entry, name) ?? "");
  return asInput(label, choose, () => ({ [name]: choose.value || null }));
};

/** @param {{ feed: Feed }} context */
const roster = ({ feed }) => feed.value("line_up")?.players ?? [];

/** @param {string} name @param {string} label @param {boolean} [isOptional] @returns {Build} */
const playerInput = (name, label, isOptional = false) => (context) => {
  const { entry } = context;
  const named = roster(context).filter(({ id }) => entry.players.length === 0 || entry.players.includes(id));
  if (named.length === 0) return { labels: [], read: () => ({}) }; // no line-up is known: the example names no player either
  /** @type {SelectOption[]} */
  const options = named.map(({ id, role }) => [id, `${formatPlayer(id)}${role ? `, ${role}` : ""}`]);
  const choose = select([...option(isOptional, "nobody named"), ...options], exampleOf(entry, name) ?? "");
  return asInput(label, choose, () => ({ [name]: choose.value || null }));
};

/** @param {string} name @param {string} label @returns {Build} */
const playersInput = (name, label) => (context) => {
  const named = roster(context);
  if (named.length === 0) return { labels: [], read: () => ({}) };
  const chosen = new Set(exampleOf(context.entry, name) ?? []);
  const choose = el("select", { multiple: true }, named.map(({ id }) => el("option", { value: id, selected: chosen.has(id) }, formatPlayer(id))));
  return asInput(label, choose, () => ({ [name]: [...choose.selectedOptions].map((option) => option.value) }));
};

/** @param {string} name @param {string} label @param {number} low @param {number} high @param {number} [step] @returns {Build} */
const numberInput = (name, label, low, high, step = 1) => ({ entry }) => {
  const box = number(name, exampleOf(entry, name) ?? low, low, high, step);
  return asInput(label, box, () => ({ [name]: box.valueAsNumber }));
};

/** @param {string} name @param {string} label @param {number} low @param {number} high @param {number} [step] @returns {Build} */
const optionalNumberInput = (name, label, low, high, step = 1) => ({ entry }) => {
  const box = optionalNumber(name, low, high);
  box.step = String(step);
  if (typeof exampleOf(entry, name) === "number") box.value = String(exampleOf(entry, name));
  return asInput(label, box, () => ({ [name]: optionalValue(box) }));
};

/** @param {string} name @param {string} label @param {string} [hint] @returns {Build} */
const textInput = (name, label, hint = "") => ({ entry }) => {
  const box = el("input", { name, maxlength: 80, placeholder: hint, value: exampleOf(entry, name) ?? "" });
  return asInput(label, box, () => ({ [name]: box.value }));
};

/** @param {string} name @param {string} label @returns {Build} */
const checkboxInput = (name, label) => ({ entry }) => {
  const box = el("input", { type: "checkbox", checked: exampleOf(entry, name) === true });
  return asInput(null, el("label", { class: "check wide" }, box, label), () => ({ [name]: box.checked }));
};

/** @param {string} name @param {string} label @param {(?string)[]} words @returns {Build} */
const wordInput = (name, label, words) => ({ entry }) => {
  const choose = select(words.map((word) => [word ?? "", word === null ? "none" : capitalize(humanize(word))]), exampleOf(entry, name) ?? "");
  return asInput(label, choose, () => ({ [name]: choose.value || null }));
};

/** @type {Build} */
const dice = ({ entry }) => {
  const box = el("input", { name: "dice", inputmode: "numeric", required: true, pattern: "\\s*\\d+([\\s,]+\\d+)*\\s*", value: (exampleOf(entry, "dice") ?? []).join(" ") });
  return asInput("Dice in the order rolled", box, () => ({ dice: box.value.split(/[\s,]+/).filter(Boolean).map(Number) }));
};

/** @param {string} name @param {string} label @param {number} low @param {number} high @returns {Build} */
const bothSidesInput = (name, label, low, high) => ({ feed, entry }) => {
  /** @type {?number[]} */
  const now = exampleOf(entry, name) ?? null;
  const boxes = [0, 1].map((at) => Object.assign(optionalNumber(name, low, high), { value: String(now?.[at] ?? "") }));
  const labels = teams(feed.value("game")).map(([, team], at) => field(`${label} ${team}`, boxes[at]));
  return { labels, read: () => ({ [name]: boxes.some((box) => box.value === "") ? now : boxes.map((box) => box.valueAsNumber) }) };
};

/**
 * A place on the field: `make(x_yd, y_yd)` names it. It may be left out where the example leaves it out.
 *
 * @param {(x_yd: ?number, y_yd: ?number) => RequestBody} make
 * @param {(example: Example) => boolean} isOptional
 * @returns {Build}
 */
const placeInput = (make, isOptional) => ({ feed, entry }) => {
  const game = feed.value("game");
  const along = yardLine(game, game?.spot_yd ?? 50, feed.value("line_up")?.field.length_yd);
  const across = number("across", 26.7, 0, 200, 0.1);
  const placed = el("input", { type: "checkbox", checked: !isOptional(entry.example) });
  const labels = [along.label, field("Yards across the field", across)];
  const follow = () => labels.forEach((label) => (label.hidden = !placed.checked));
  placed.addEventListener("input", follow);
  follow();
  const read = () => (placed.checked ? make(along.x_yd(), across.valueAsNumber) : make(null, null));
  return { labels: [el("label", { class: "check wide" }, placed, "At a place"), ...labels], read };
};

const spot = placeInput((x_yd, y_yd) => ({ spot_yd: x_yd === null ? null : [x_yd, y_yd] }), (example) => !example?.spot_yd);
const ball = placeInput((x_yd, y_yd) => ({ x_yd, y_yd }), (example) => typeof example?.x_yd !== "number");

/** @type {Build} */
const overtime = ({ feed }) => {
  const first = select([["", "no overtime counted"], ...teams(feed.value("game"))]);
  const gains = el("input", { name: "gains", inputmode: "numeric", placeholder: "for example: 12" });
  const order = number("overtime", 1, 1, 99);
  const read = () => ({ overtime: first.value === "" ? null : { first: first.value, number: order.valueAsNumber, gains_yd: gains.value.split(/[\s,]+/).filter(Boolean).map(Number) } });
  return { labels: [field("First in overtime", first), field("Overtime number", order), field("Yards or points of its plays so far", gains, "wide")], read };
};

/** @type {Build} */
const cardWindows = () => {
  const windows = windowsField();
  return { labels: [windows.photoLabel, windows.label], read: () => (windows.box.value.trim() === "" ? {} : { windows: windows.read(), shown: "", dot: null }) }; // the roll selects those
};

/** @type {SelectOption[]} */
const HALVES = [["false", "no"], ["true", "yes"]];

/** @type {Build} */
const spiked = ({ feed, entry }) => {
  if (entry.example === null || !feed.value("game")?.accepts.includes("card")) return { labels: [], read: () => ({}) };
  const boxes = ["home", "away"].map(() => select(HALVES));
  const labels = teams(feed.value("game")).map(([, team], at) => field(`Has spiked in this half: ${team}`, boxes[at]));
  return { labels, read: () => ({ spiked: boxes.map((box) => box.value === "true") }) };
};

const BY = sideInput("by", "By");

/** The inputs of each type; what they leave out stays as in the example that the service gives. @type {Record<string, Build[]>} */
const INPUTS = {
  line_up: [({ feed }) => rosterInput(roster({ feed }), feed.value("game")), wordInput("offense", "Jersey of the offense", [null, "dark", "light"])],
  set_up: [
    sideInput("offense", "Offense (receivers of a kick, scorers before a try)"),
    ({ entry }) => {
      const way = select([["1", "to the right"], ["-1", "to the left"]], String(exampleOf(entry, "direction") ?? 1));
      return asInput("Direction", way, () => ({ direction: Number(way.value) }));
    },
    wordInput("due", "Next play", ["scrimmage", "kickoff", "free_kick", "try", "extra_point", "two_point"]),
    optionalNumberInput("spot_yd", "Line, yards from the left goal line", 0.1, 200, 0.1), numberInput("down", "Down", 1, 4),
    numberInput("distance_yd", "Yards to go (0 for goal)", 0, 100, 0.1), numberInput("period", "Period", 1, 9), optionalNumberInput("clock_s", "Seconds left", 0, 14400),
    bothSidesInput("score", "Points", 0, 255), bothSidesInput("time_outs", "Time-outs left", 0, 9), bothSidesInput("reviews_used", "Reviews used", 0, 9), spiked,
    wordInput("hash", "Hash", ["left", "center", "right"]), wordInput("opening_kicker", "Kicked off first", [null, "home", "away"]), overtime,
  ],
  front: [playerInput("player", "Figure"), numberInput("heading_deg", "Faces, degrees from the board's right", -360, 360)],
  carrier: [playerInput("player", "Figure")],
  switch: [BY],
  pass: [
    playerInput("receiver", "To", true), optionalNumberInput("distance_yd", "Length in yards, where no camera measures", 0, 130, 0.1),
    playersInput("near", "Defenders near enough to intercept"), playersInput("touching", "Of these, touching passer or receiver"),
  ],
  pitch: [playerInput("to", "To")],
  pivots_done: [BY],
  base_swap: [playerInput("player", "Figure"), checkboxInput("stationary", "Now on a stationary base")],
  kick: [playersInput("gunners", "Gunners, on a punt"), playerInput("returner", "Returner", true)],
  choice: [BY],
  roll: [dice, BY],
  coin: [checkboxInput("heads", "Heads")],
  claim: [BY, playerInput("player", "Figure concerned", true)],
  clock: [optionalNumberInput("left_s", "Seconds left", 0, 14400)],
  ball_placed: [ball],
  pass_ended: [playerInput("player", "Caught by", true), spot],
  kick_ended: [ball, playerInput("player", "Touched by", true), BY],
  play_ended: [BY, spot, playerInput("player", "Carrier, or tackler of a fumble", true)],
  card: [
    textInput("shown", "Text on the card", "7, 10F, inc"), optionalNumberInput("roll", "Roll, 1 to 100", 1, 100), optionalNumberInput("reroll", "Second roll", 1, 100),
    textInput("play", "Offense's card"), textInput("defense", "Defense's card"), wordInput("dot", "Dot", [null, "black", "red", "blue"]),
    checkboxInput("ran_out", "Ran out of bounds"), checkboxInput("highlighted", "Highlighted: a fumble may be returned"), numberInput("return_to", "Touchdown return up to", 0, 100), cardWindows,
  ],
  return: [textInput("shown", "Text on the return", "12, 3F"), optionalNumberInput("roll", "Roll, 1 to 100", 1, 100), optionalNumberInput("reroll", "Second roll", 1, 100)],
  foul: [
    BY, numberInput("yards", "Yards", 0, 100), textInput("name", "Foul", "O10 loss dwn inc"), checkboxInput("first_down", "Automatic first down"),
    checkboxInput("loss_of_down", "Loss of down"), checkboxInput("automatic", "Auto-5: the play does not count"), checkboxInput("on_kicker", "Running into the kicker"),
    checkboxInput("offsetting", "Both sides fouled: offsetting"),
  ],
};

/** The choice of what is declared, and its form; it follows the choice, and the state as it was when it was built. @param {Feed} feed */
export function anything(feed) {
  const entries = allDeclarations();
  const offered = entries.filter((entry) => entry.allowed && entry.example !== null);
  if (offered.length === 0) return [el("p", { class: "muted" }, "Nothing can be declared now.")];
  /** @param {Service.LegalDeclaration} entry */
  const key = (entry) => `${entry.type}:${entry.word}`;
  /** @param {Service.LegalDeclaration} entry */
  const label = (entry) => `${LABELS[entry.type] ?? capitalize(humanize(entry.type))}${entry.word ? `: ${humanize(entry.word)}` : ""}`;
  /** @param {Service.LegalDeclaration} entry @returns {SelectOption} */
  const entryOption = (entry) => [key(entry), label(entry), !entry.allowed];
  const what = select([...offered, ...entries.filter((entry) => !entry.allowed)].map(entryOption));
  const place = el("div");
  const show = () => {
    const entry = offered.find((candidate) => key(candidate) === what.value) ?? offered[0];
    const inputs = (INPUTS[entry.type] ?? []).map((build) => build({ feed, entry }));
    const send = submitButton("Declare");
    delete send.dataset.closes;
    const form = el("form", { class: "grid" }, inputs.flatMap(({ labels }) => labels), send);
    bindForm(form, send, () => declaration(Object.assign({ type: entry.type }, entry.example, ...inputs.map(({ read }) => read()))));
    place.replaceChildren(form);
  };
  what.addEventListener("input", show);
  show();
  return [field("What to declare", what), place];
}
