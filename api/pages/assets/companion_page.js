// A page of buttons for Bitfocus Companion, and by it for a Stream Deck: each button is one HTTP request to this rig.
//
// The form is that of Companion's exports of version 4, which 3.0 and all later ones import ("page" in
// shared-lib/lib/Model/ExportModelv4.ts); the requests are sent by its module "Generic: HTTP Requests".

/** The rig's connection in the file. */
const RIG = "downfield";

/** Companion counts colors as 0xrrggbb. */
const WHITE = 0xffffff;

const COLUMNS = 8;

/** A button: its text, the request it sends, and its color. @typedef {{ text: string, method: "post" | "delete", path: string, body?: object, color?: number }} DeckButton */

/** @param {string} text @param {object} card @returns {DeckButton} */
const card = (text, card) => ({ text, method: "post", path: "api/graphic", body: card, color: 0x1d3f72 });

/** In rows of eight: a small deck has the first five of each. @type {DeckButton[][]} */
export const BUTTONS = [
  [
    { text: "Replay", method: "post", path: "api/replay", body: { call: null }, color: 0x1f9d5a },
    { text: "Replay off", method: "delete", path: "api/replay", color: 0x8a2620 },
    { text: "Card off", method: "delete", path: "api/graphic", color: 0x8a2620 },
  ],
  [
    card("Drive", { kind: "drive" }),
    card("Both teams", { kind: "teams" }),
    card("Under review", { kind: "review" }),
    card("Home line-up", { kind: "line_up", side: "home" }),
    card("Away line-up", { kind: "line_up", side: "away" }),
    card("Standings", { kind: "standings" }),
  ],
];

/**
 * The page, to be saved as a `.companionconfig`.
 *
 * @param {string} base address of the start page, which ends with a slash
 * @param {string} token of a producer
 */
export function companionPage(base, token) {
  const header = JSON.stringify({ Authorization: `Bearer ${token}` });
  return {
    version: 4,
    type: "page",
    page: {
      name: "Downfield",
      gridSize: { minColumn: 0, maxColumn: COLUMNS - 1, minRow: 0, maxRow: 3 },
      controls: numbered(BUTTONS.map((row, y) => numbered(row.map((button, x) => control(button, `${RIG}-${y}-${x}`, header))))),
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
