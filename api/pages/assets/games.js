// The list of all games, the latest first, a page at a time.

import { el, elementsOf, setText } from "./dom.js";
import { AWAY_FIRST, SIDES, counted, overtimeWinner } from "./format.js";
import { formParameters, followForm } from "./search_form.js";
import { errorText, read } from "./send.js";
import { formatGameDate, standingBadge } from "./game_summary.js";

const PAGE = 50;

const at = elementsOf("games");
/** @type {Service.ListedGame[]} */
let shown = [];
let latest = 0;

async function load(more = false) {
  const request = ++latest;
  const query = formParameters(at("search"));
  if (query.get("standing") === "under_review") {
    query.delete("standing");
    query.set("under_review", "true");
  }
  query.set("limit", String(PAGE));
  const last = shown.at(-1);
  if (more && last !== undefined) query.set("before", last.id);
  try {
    /** @type {Service.ListedGame[]} */
    const found = await read(`api/games?${query}`, (text) => request === latest && setText(at("message"), text));
    if (request !== latest) return; // another search was started meanwhile
    shown = more ? [...shown, ...found] : found;
    at("games").replaceChildren(...shown.map(gameItem));
    at("more").hidden = found.length < PAGE;
    const searched = [...formParameters(at("search"))].length > 0;
    setText(at("message"), shown.length > 0 ? "" : searched ? "No game matches." : "No game has been played on this rig yet.");
  } catch (error) {
    if (request === latest) setText(at("message"), errorText(error));
  }
}

/** @param {Service.ListedGame} game */
function gameItem(game) {
  return el(
    "li",
    {},
    el(
      "a",
      { class: "game plate", href: `game?game=${encodeURIComponent(game.id)}` },
      el(
        "span",
        { class: "teams" },
        AWAY_FIRST.map((side) => [el("span", {}, game[side]), el("span", {}, game.score[SIDES.indexOf(side)])]),
      ),
      el("span", { class: "facts" }, [overtimeWinner(game.text), formatGameDate(game), game.title, game.rulebook_title, game.table].filter(Boolean).map((fact) => el("span", {}, fact)), standingBadge(game.standing), game.under_review > 0 && el("span", { class: "badge alert" }, counted(game.under_review, "open challenge"))),
    ),
  );
}

at("more").addEventListener("click", () => load(true));
followForm(at("search"), () => load());
load();
