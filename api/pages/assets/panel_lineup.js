// The line-up check: whether every figure is seen and identified.

import { Board } from "./board.js";
import { el, find, findAll, refresh } from "./dom.js";
import { SIDES, formatPlayer, opponent } from "./format.js";
import { declarationData, field, requestButton, select } from "./panel_fields.js";
import { frontCorrections, updateFronts } from "./panel_fronts.js";

/** Often enough for hands that set figures down. */
const UPDATE_MS = 500;

/**
 * Fill the section's body, and show in its title how many figures are seen.
 *
 * @param {HTMLElement} body
 * @param {HTMLElement} summary
 * @param {Feed} feed
 */
export function lineUpCheck(body, summary, feed) {
  const board = new Board({ hands: true });
  const result = el("div", { "aria-live": "polite" });
  const fronts = frontCorrections();
  const names = el("details", {}, el("summary", {}, el("span", {}, "Two figures have each other's name?")), el("div", { class: "exchange" }));
  const count = el("span", { class: "count" });
  summary.append(count);
  body.append(
    board.element,
    result,
    fronts,
    names,
    el("div", { class: "row" }, requestButton("Find all figures again", "api/commands", { command: "find_figures" })),
  );
  board.follow(feed);
  setInterval(() => {
    update(feed, result, count, fronts);
    updateExchange(find(names, ".exchange"), feed.value("scene"), feed.value("line_up"));
  }, UPDATE_MS);
}

/**
 * Two figures to choose, and a button that says that each stands where the other is drawn.
 *
 * @param {HTMLElement} parent
 * @param {Service.SceneView | undefined} scene
 * @param {Service.LineUpView | undefined} lineUp
 */
function updateExchange(parent, scene, lineUp) {
  const players = lineUp?.players ?? [];
  refresh(parent, players, () => {
    const options = players.map(({ id }) => /** @type {[string, string]} */ ([id, formatPlayer(id)]));
    return [field("Figure", select(options)), field("and figure", select(options, players.at(-1)?.id)), el("button", { type: "button" }, "Exchange their names")];
  });
  const [one, other] = findAll(parent, "select", HTMLSelectElement).map(({ value }) => scene?.figures.find(({ id }) => id === value));
  const button = parent.querySelector("button");
  if (button === null) return;
  button.disabled = one === undefined || other === undefined || one === other;
  if (one === undefined || other === undefined) return;
  const places = [{ id: one.id, x_yd: other.x_yd, y_yd: other.y_yd }, { id: other.id, x_yd: one.x_yd, y_yd: one.y_yd }];
  const attributes = declarationData({ type: "identities", places });
  for (const [name, value] of Object.entries(attributes)) button.setAttribute(name, value);
}

/** @param {Feed} feed @param {HTMLElement} result @param {HTMLElement} count @param {HTMLElement} fronts */
function update(feed, result, count, fronts) {
  const [scene, lineUp, game] = [feed.value("scene"), feed.value("line_up"), feed.value("game")];
  if (lineUp === undefined || game === undefined) return;
  updateFronts(fronts, scene, lineUp, game);
  const figures = scene?.figures ?? [];
  const seen = figures.filter((figure) => figure.posture === "upright" || figure.posture === "fallen");
  /** @param {Service.FigureView[]} some */
  const names = (some) => some.map((figure) => formatPlayer(figure.id)).join(", ");
  /** @type {[string, Service.FigureView[]][]} */
  const all = [
    ["Not seen", figures.filter((figure) => figure.posture === "unseen")],
    ["In a hand", figures.filter((figure) => figure.posture === "lifted")],
    ["Fallen", figures.filter((figure) => figure.posture === "fallen")],
    ["Not sure which figure is which", figures.filter((figure) => !figure.sure)],
  ];
  const problems = all.filter(([, some]) => some.length > 0);
  const sides = SIDES.map((side) => {
    const expected = lineUp.players.filter((player) => player.jersey === game[side].jersey).length;
    const here = seen.filter((figure) => figure.jersey === game[side].jersey).length;
    return `${game[side].short} ${here} of ${expected}`;
  });
  const complete = seen.length === lineUp.players.length && problems.length === 0;
  refresh(count, [sides, complete], () => [el("i", { class: `dot ${complete ? "ok" : "warning"}` }), el("span", {}, sides.join(" · "))]);
  const defense = opponent(game.offense);
  const swap = {
    declaration: { type: "line_up", players: lineUp.players, offense: game[defense].jersey },
  };
  refresh(result, [problems.map(([text, some]) => [text, names(some)]), complete, swap.declaration.offense], () => [
    complete && el("p", { class: "success" }, "All figures are seen and identified."),
    problems.map(([text, some]) => el("p", {}, el("b", {}, `${text}: `), names(some))),
    el("p", { class: "muted" }, `${game[game.offense].name} has the ball and wears ${game[game.offense].jersey}.`),
    el("div", { class: "row" }, requestButton(`Wrong: ${game[game.offense].short} wears ${game[defense].jersey}`, "api/declarations", swap)),
  ]);
}
