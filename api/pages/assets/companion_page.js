// A page of buttons for Bitfocus Companion, and by it for a Stream Deck: each button is one HTTP request to this rig.
//
// The form is that of Companion's exports of version 4, which 3.0 and all later ones import ("page" in
// shared-lib/lib/Model/ExportModelv4.ts); the requests are sent by its module "Generic: HTTP Requests".

import { ELEMENT_WORDS } from "./producer_words.js";

/** The rig's connection in the file. */
const RIG = "downfield";

/** Companion counts colors as 0xrrggbb. */
const WHITE = 0xffffff;

const COLUMNS = 8;

/** A button: its text, the request it sends, and its color. @typedef {{ text: string, method: "post" | "patch" | "delete", path: string, body?: object, color?: number }} DeckButton */

const [BLUE, GREEN, RED, GRAY] = [0x1d3f72, 0x1f9d5a, 0x8a2620, 0x3a4654];

/** @param {string} text @param {object} card @returns {DeckButton} */
const card = (text, card) => ({ text, method: "post", path: "api/graphic", body: card, color: BLUE });

/** @param {string} text @param {object} pace @returns {DeckButton} */
const pace = (text, pace) => ({ text, method: "patch", path: "api/replay", body: pace, color: GREEN });

/** A press puts it on air or takes it off. @param {import("./producer_air.js").Element} element @returns {DeckButton} */
const either = (element) => ({ text: ELEMENT_WORDS[element], method: "post", path: `api/on-air/elements/${element}`, body: {}, color: GRAY });

/** In rows of eight: a small deck has the first five of each. @type {DeckButton[][]} */
const BUTTONS = [
  [
    { text: "Replay", method: "post", path: "api/replay", body: { call: null }, color: GREEN },
    pace("Freeze", { frozen: true }),
    pace("Go on", { frozen: false }),
    pace("Half speed", { speed: 0.5 }),
    { text: "Replay off", method: "delete", path: "api/replay", color: RED },
    { text: "Card off", method: "delete", path: "api/graphic", color: RED },
  ],
  [
    card("Drive", { kind: "drive" }),
    card("Both teams", { kind: "teams" }),
    card("Under review", { kind: "review" }),
    card("Halftime", { kind: "halftime", seconds: 0 }),
    card("Final", { kind: "final", seconds: 0 }),
    card("Starting soon", { kind: "starting_soon", seconds: 0 }),
    card("Home line-up", { kind: "line_up", side: "home" }),
    card("Away line-up", { kind: "line_up", side: "away" }),
  ],
  [either("bug"), either("banner"), either("sponsors"), either("lines"), either("tags"), either("map"), either("splash"), either("names")],
];

/**
 * The page, to be saved as a `.companionconfig`.
 *
 * @param {string} base address of the start page, which ends with a slash
 * @param {string} token of a producer
 * @param {Service.OnAirPreset[]} presets each gets a button
 */
export function companionPage(base, token, presets) {
  const rows = [...BUTTONS, presets.slice(0, COLUMNS).map(({ name }) => presetButton(name))];
  const header = JSON.stringify({ Authorization: `Bearer ${token}` });
  return {
    version: 4,
    type: "page",
    page: {
      name: "Downfield",
      gridSize: { minColumn: 0, maxColumn: COLUMNS - 1, minRow: 0, maxRow: 3 },
      controls: numbered(rows.map((row, y) => numbered(row.map((button, x) => control(button, `${RIG}-${y}-${x}`, header))))),
    },
    instances: {
      [RIG]: {
        label: RIG,
        instance_type: "generic-http",
        enabled: true,
        isFirstInit: false,
        lastUpgradeIndex: -1,
        sortOrder: 0,
        config: { prefix: base, proxyAddress: "", rejectUnauthorized: new URL(base).protocol === "http:" }, // a rig signs its own certificate
      },
    },
    oldPageNumber: 1,
  };
}

/** @param {string} name @returns {DeckButton} */
const presetButton = (name) => ({ text: name, method: "post", path: `api/on-air/presets/${encodeURIComponent(name)}`, body: {}, color: BLUE });

/** @template T @param {T[]} list @returns {Record<string, T>} by place */
const numbered = (list) => Object.fromEntries(list.map((each, index) => [String(index), each]));

/** @param {DeckButton} button @param {string} id @param {string} header */
function control({ text, method, path, body = {}, color = 0 }, id, header) {
  const options = { url: path, body: JSON.stringify(body), header, contenttype: "application/json", jsonResultDataVariable: "", result_stringify: true, statusCodeVariable: "" };
  return {
    type: "button",
    style: { text, textExpression: false, size: "auto", png64: null, alignment: "center:center", pngalignment: "center:center", color: WHITE, bgcolor: color, show_topbar: "default" },
    options: { relativeDelay: false, rotaryActions: false, stepAutoProgress: true },
    feedbacks: [],
    steps: { 0: { action_sets: { down: [{ id, action: method, instance: RIG, delay: 0, options }], up: [] }, options: { runWhileHeld: [] } } },
  };
}
