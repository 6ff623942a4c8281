// What if: a game under another rulebook or a league's house rules, side by side.

import { el, setText } from "./dom.js";
import { capitalize, counted, formatCallText } from "./format.js";
import { RefusedError, errorText, read, sendAndWait } from "./send.js";

const VERDICTS = { too_close: "too close", proposed: "proposed", reported: "noted" };

const MAX_BYTES = 50_000;

/**
 * Fill the section once it is opened, or now if it is open already.
 *
 * @param {HTMLDetailsElement} details
 * @param {string} path of the game
 * @param {Teams} teams
 */
export function whatIf(details, path, teams) {
  const fill = async () => {
    if (!details.open || details.querySelector("form")) return;
    const problem = el("p", { class: "problem", role: "alert" });
    const result = el("div", { class: "what-if", role: "status" });
    const select = el("select", { name: "rulebook" });
    const file = el("input", { type: "file", name: "file", accept: ".toml,text/plain" });
    const play = el("input", { name: "play", inputmode: "numeric", pattern: "[0-9]*", maxlength: 4, placeholder: "All plays" });
    const button = el("button", { type: "submit", class: "main" }, "Compare");
    const form = el("form", { class: "desk-form" }, el("label", {}, "Rulebook", select), el("label", {}, "Or a league's own file (.toml)", file), el("label", {}, "Play", play), button);
    details.append(form, problem, result);
    try {
      /** @type {Service.RulebookSummary[]} */
      const books = await read("api/rulebooks", (text) => setText(problem, text));
      setText(problem, "");
      select.replaceChildren(...books.map(({ name, title }) => el("option", { value: name }, title)));
    } catch (error) {
      setText(problem, errorText(error));
    }
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      button.disabled = true;
      setText(problem, "");
      const state = el("p", { class: "muted" }, "Judging the game under both rulebooks. A long game takes a minute or more…");
      result.replaceChildren(state);
      try {
        const query = play.value.trim() ? `?play=${encodeURIComponent(play.value.trim())}` : "";
        result.replaceChildren(...table(await sendAndWait(`${path}/what-if${query}`, await choice(select, file), (text) => setText(state, text)), teams));
      } catch (error) {
        result.replaceChildren();
        setText(problem, errorText(error));
      } finally {
        button.disabled = false;
      }
    });
  };
  details.addEventListener("toggle", fill);
  fill();
}

/** @param {HTMLSelectElement} select @param {HTMLInputElement} input */
async function choice(select, input) {
  const [file] = input.files ?? [];
  if (file === undefined) return { rulebook: select.value };
  if (file.size > MAX_BYTES) throw new RefusedError({ detail: `${file.name} has ${file.size} bytes; a league's file has at most ${MAX_BYTES}.` });
  const house_rules = await file.text().catch(() => {
    throw new RefusedError({ detail: `${file.name} can't be read any more. Choose it again.` });
  });
  return { house_rules };
}

/** @param {Service.WhatIf} found @param {Teams} teams */
function table({ here, there, differences, plays, unused }, teams) {
  const head = el("div", { class: "pair head" }, [here, there].map((side) => el("div", {}, el("b", {}, side.title), el("p", {}, `${teams.away} ${side.score[1]}, ${teams.home} ${side.score[0]}`))));
  const rows = differences.filter((difference) => !isNote(difference)).map(row);
  const notes = differences.filter(isNote).map(row);
  const noted = notes.length > 0 && el("details", {}, el("summary", {}, `${notes.length} ${notes.length === 1 ? "note differs" : "notes differ"}, without consequence`), el("div", { class: "what-if" }, notes));
  const begins = plays.map((play) => el("div", { class: "pair" }, el("p", { class: "muted" }, `Play ${play.number} begins`), el("div", {}, play.here || "No such play"), el("div", {}, play.there || "No such play")));
  const aside = unused.length > 0 && el("details", {}, el("summary", {}, `${counted(unused.length, "declaration")} without use under ${there.title}`), el("ul", {}, unused.map((view) => el("li", {}, `${capitalize(formatCallText(view.text))}: ${view.set_aside}`))));
  const same = differences.length + plays.length === 0 && el("p", {}, el("b", {}, "Every call and every down is the same."));
  return [head, same, ...rows, ...begins, noted, aside].filter((part) => part !== false);
}

/** Whether neither rulebook makes more than a note of it, which changes nothing in the game. @param {Service.WhatIfCall} difference */
const isNote = ({ here, there }) => [here, there].every((call) => call === null || call.verdict === "reported");

/** @param {Service.WhatIfCall} difference */
const row = (difference) =>
  el("div", { class: "pair" }, el("p", { class: "muted" }, difference.play ? `Play ${difference.play}` : "Before the first play"), cell(difference.here, difference.here_clauses), cell(difference.there, difference.there_clauses));

/** @param {?Service.CallBrief} call @param {string[]} clauses */
function cell(call, clauses) {
  if (call === null) return el("div", { class: "muted" }, "No call");
  const verdict = call.verdict === "called" ? "" : ` (${VERDICTS[call.verdict]})`;
  return el("div", {}, `${capitalize(formatCallText(call.text))}${verdict}`, el("small", { class: "muted" }, ` ${clauses.join(", ")}`));
}
