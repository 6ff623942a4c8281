// The line-up check: is everybody on the board where Downfield thinks, and does it know everybody?

import { Board } from "/assets/board.js";
import { el, refresh } from "/assets/dom.js";

/** Look at the scene this often: often enough for hands that set figures down. */
const LOOK_MS = 500;

/** Fill the fold's body, and keep its title telling how many are seen. */
export function lineUpCheck(body, summary, feed) {
  const board = new Board({ hands: true });
  const told = el("div", { class: "told", "aria-live": "polite" });
  const count = el("span", { class: "count" });
  summary.append(count);
  body.append(
    board.element,
    told,
    el("div", { class: "row" }, button("Match the figures anew", "/api/commands", { command: "find_figures" })),
  );
  board.follow(feed);
  setInterval(() => look(feed, told, count), LOOK_MS);
}

function look(feed, told, count) {
  const [scene, lineUp, game] = ["scene", "line_up", "game"].map((topic) => feed.value(topic));
  if (lineUp === undefined || game === undefined) return;
  const figures = scene?.figures ?? [];
  const seen = figures.filter((figure) => figure.posture === "upright" || figure.posture === "fallen");
  const named = (some) => some.map((figure) => figure.id.replace("-", " ")).join(", ");
  const problems = [
    ["Not seen", figures.filter((figure) => figure.posture === "unseen")],
    ["In a hand", figures.filter((figure) => figure.posture === "lifted")],
    ["Fallen", figures.filter((figure) => figure.posture === "fallen")],
    ["Not sure who", figures.filter((figure) => !figure.sure)],
  ].filter(([, some]) => some.length > 0);
  const sides = ["home", "away"].map((side) => {
    const all = lineUp.players.filter((player) => player.jersey === game[side].jersey).length;
    const here = seen.filter((figure) => figure.jersey === game[side].jersey).length;
    return `${game[side].short} ${here} of ${all}`;
  });
  const well = seen.length === lineUp.players.length && problems.length === 0;
  refresh(count, [sides, well], () => [el("i", { class: `dot ${well ? "ok" : "warning"}` }), el("span", {}, sides.join(" · "))]);
  const other = game.offense === "home" ? "away" : "home";
  const swap = {
    declaration: { type: "line_up", players: lineUp.players, offense: game[other].jersey },
  };
  refresh(told, [problems.map(([text, some]) => [text, named(some)]), well, swap.declaration.offense], () => [
    well && el("p", { class: "well" }, "Everybody is seen and known."),
    problems.map(([text, some]) => el("p", {}, el("b", {}, `${text}: `), named(some))),
    el("p", { class: "soft" }, `${game[game.offense].name} has the ball in ${game[game.offense].jersey}.`),
    el("div", { class: "row" }, button(`No: ${game[game.offense].short} is in ${game[other].jersey}`, "/api/declarations", swap)),
  ]);
}

const button = (label, post, body) =>
  el("button", { type: "button", class: "small", "data-post": post, "data-body": JSON.stringify(body) }, label);
