// The board from above, as SVG in its own millimeters: paint, lines, figures, ball and hands, moving smoothly.

import { applyTeamColors } from "./color.js";
import { svg } from "./dom.js";
import { formatNumber, opponent, SIDES } from "./format.js";
import { Motion } from "./motion.js";

/** Without a scene for this long the figures are hidden. */
const LOST_MS = 3_000;

const STRIPE_YD = 10;

/** A drawing of the board: `element` is its SVG. */
export class Board {
  #motion = new Motion();
  /** @type {Map<string, Service.Player>} */
  #players = new Map();
  /** @type {Map<string, { group: SVGGElement, base: SVGGElement }>} of each figure: all of it, and the part that turns with its heading */
  #figures = new Map();
  /** @type {?Service.FieldModel} */
  #field = null;
  /** @type {?string} */
  #carrier = null;
  #carried = true;
  #options;
  #layers = {
    paint: svg("g", { class: "paint" }),
    zones: svg("g", { class: "zones" }),
    lines: svg("g", { class: "lines" }),
    hands: svg("g", { class: "hands" }),
    links: svg("g", { class: "links" }),
    figures: svg("g", { class: "figures" }),
    ball: svg("g", { class: "ball" }),
  };

  /**
   * @param {object} options
   * @param {boolean} [options.rotated] show it from the other side of the table
   * @param {boolean} [options.numbers] show the figures' numbers
   * @param {boolean} [options.hands] show hands
   */
  constructor({ rotated = false, numbers = true, hands = true } = {}) {
    this.#options = { rotated, numbers, hands };
    this.element = svg("svg", { class: "board", role: "img", "aria-label": "The board from above" });
    this.element.append(...Object.values(this.#layers));
    const step = () => {
      this.#draw();
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  /** Show what a feed publishes; a new game clears the figures. @param {Feed} feed */
  follow(feed) {
    let gameId = "";
    feed.on("line_up", (lineUp) => {
      if (lineUp === undefined) return;
      this.lineUp(lineUp);
      const game = feed.value("game");
      if (game !== undefined) this.game(game);
    });
    feed.on("game", (game) => {
      if (game === undefined) return;
      if (gameId !== "" && game.game !== gameId) this.clear();
      gameId = game.game;
      this.game(game);
    });
    feed.on("ball", (ball) => ball && this.ball(ball));
    feed.on("scene", (scene) => scene && this.scene(scene));
  }

  /** @param {Service.LineUpView} lineUp */
  lineUp({ field, players }) {
    if (JSON.stringify(field) !== JSON.stringify(this.#field)) {
      this.#field = field;
      this.#layers.paint.replaceChildren(...paint(field, (x, y) => this.#toDrawing(field, x, y)));
      const { x, y, width, height } = extent(field);
      this.element.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
    }
    this.#players = new Map(players.map((player) => [player.id, player]));
    this.#layers.figures.replaceChildren();
    this.#figures.clear();
  }

  /** @param {Service.GameView} game */
  game(game) {
    const field = this.#field;
    if (field === null) return;
    const left = game.direction === 1 ? game.possession : opponent(game.possession);
    const scrimmage = game.due === "scrimmage" && game.phase !== "over";
    this.#layers.zones.replaceChildren(
      endZone(field, game[left], -1, this.#options.rotated),
      endZone(field, game[opponent(left)], 1, this.#options.rotated),
    );
    this.#layers.lines.replaceChildren(
      this.#line(field, game.spot_yd, "scrimmage"),
      ...(scrimmage && !game.goal_to_go ? [this.#line(field, game.to_gain_yd, "to-gain")] : []),
      this.#arrow(field, game),
    );
    for (const side of SIDES) {
      this.element.style.setProperty(`--${game[side].jersey}-side`, game[side].color);
    }
  }

  /** @param {Service.BallView} ball */
  ball(ball) {
    this.#carrier = ball.player;
    this.#carried = ball.player !== null || ball.state === "carried";
  }

  /** @param {Service.SceneView} scene */
  scene(scene) {
    this.#motion.add(scene);
  }

  /** Remove all figures. */
  clear() {
    this.#motion.clear();
  }

  /**
   * Board millimeters to drawing millimeters: the drawing's y goes down, and it may be rotated by 180 degrees.
   *
   * @param {Service.FieldModel} field
   * @param {number} x_mm
   * @param {number} y_mm
   * @returns {Point}
   */
  #toDrawing(field, x_mm, y_mm) {
    const { length, width } = size(field);
    return this.#options.rotated ? [length - x_mm, y_mm] : [x_mm, width - y_mm];
  }

  /** @param {Service.FieldModel} field @param {number} x_yd @param {string} name */
  #line(field, x_yd, name) {
    const x_mm = x_yd * field.mm_per_yd_x;
    const [[x1, y1], [x2, y2]] = [this.#toDrawing(field, x_mm, 0), this.#toDrawing(field, x_mm, size(field).width)];
    return svg("line", { class: name, x1, y1, x2, y2 });
  }

  /** An arrow in the direction of the side with the ball. @param {Service.FieldModel} field @param {Service.GameView} game */
  #arrow(field, game) {
    const across = field.mm_per_yd_y;
    const [x, y] = this.#toDrawing(field, game.spot_yd * field.mm_per_yd_x, size(field).width - 3.2 * across);
    const direction = game.direction * (this.#options.rotated ? -1 : 1);
    const arrow = svg("path", { class: "arrow", d: `M${x + 8 * direction},${y - 13}l${22 * direction},13l${-22 * direction},13z` });
    applyTeamColors(arrow, game[game.possession]);
    return arrow;
  }

  #draw() {
    const field = this.#field;
    if (field === null) return;
    const now = this.#motion.now();
    const lost = now === null || now.age_ms > LOST_MS;
    this.element.classList.toggle("lost", lost);
    if (now === null) return;
    for (const figure of now.figures) this.#place(field, figure);
    for (const [id, { group }] of this.#figures) if (!now.ids.has(id)) this.#remove(id, group);
    const positions = new Map(now.figures.map((figure) => [figure.id, this.#toDrawing(field, figure.x_mm, figure.y_mm)]));
    this.#layers.links.replaceChildren(
      ...now.scene.touching.flatMap((pair) => {
        const [a, b] = pair.map((id) => positions.get(id));
        return a && b ? [contactMark(a, b)] : [];
      }),
    );
    const ball = this.#carried ? null : now.scene.ball_mm;
    this.#layers.ball.replaceChildren(...(ball ? [looseBall(this.#toDrawing(field, ...ball))] : []));
    const hands = this.#options.hands ? now.scene.hands : [];
    this.#layers.hands.replaceChildren(
      ...hands.map((hand) => svg("polygon", { points: hand.map(([x, y]) => this.#toDrawing(field, x, y)).join(" ") })),
    );
  }

  /** @param {Service.FieldModel} field @param {Service.FigureView} figure */
  #place(field, figure) {
    const { group, base } = this.#figures.get(figure.id) ?? this.#add(figure);
    const [x, y] = this.#toDrawing(field, figure.x_mm, figure.y_mm);
    group.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
    const rotation = -figure.heading + (this.#options.rotated ? 180 : 0);
    base.setAttribute("transform", `rotate(${rotation.toFixed(1)})`);
    const carrier = figure.id === this.#carrier ? " carrier" : "";
    const name = `figure ${figure.jersey} ${figure.posture}${figure.sure ? "" : " unsure"}${carrier}`;
    if (group.getAttribute("class") !== name) group.setAttribute("class", name);
  }

  /** @param {Service.FigureView} figure */
  #add(figure) {
    const player = this.#players.get(figure.id);
    const { length_mm, width_mm, corner_mm } = player?.base ?? { length_mm: 30, width_mm: 18, corner_mm: 1 };
    const [x, y] = [-length_mm / 2, -width_mm / 2];
    const base = svg(
      "g",
      {},
      svg("rect", { class: "base", x, y, width: length_mm, height: width_mm, rx: corner_mm + 1.5 }),
      svg("path", { class: "front", d: `M${-x - 5},${y + 3}l4,${width_mm / 2 - 3}l-4,${width_mm / 2 - 3}z` }),
    );
    const text = this.#options.numbers ? svg("text", { y: 0.5 }, player?.number ? formatNumber(player, [...this.#players.values()]) : "") : "";
    const group = svg("g", { "data-figure": figure.id }, base, text);
    this.#figures.set(figure.id, { group, base });
    this.#layers.figures.append(group);
    return { group, base };
  }

  /** @param {string} id @param {SVGGElement} group */
  #remove(id, group) {
    group.remove();
    this.#figures.delete(id);
  }
}

/** @param {Service.FieldModel} field */
function size(field) {
  return { length: field.length_yd * field.mm_per_yd_x, width: field.width_yd * field.mm_per_yd_y };
}

/** @param {Service.FieldModel} field @returns {Box} */
function extent(field) {
  const { length, width } = size(field);
  const [out, side] = [field.end_zone_yd * field.mm_per_yd_x + 8, 8];
  return { x: -out, y: -side, width: length + 2 * out, height: width + 2 * side };
}

/** @param {number} step @param {number} until */
function* every(step, until) {
  for (let at = step; at < until - 1e-6; at += step) yield at;
}

/** The printed field. @param {Service.FieldModel} field @param {(x_mm: number, y_mm: number) => Point} toDrawing */
function paint(field, toDrawing) {
  const { length, width } = size(field);
  const [along, across] = [field.mm_per_yd_x, field.mm_per_yd_y];
  const { x, y, width: w, height: h } = extent(field);
  /** @type {SVGElement[]} */
  const parts = [svg("rect", { class: "surround", x, y, width: w, height: h, rx: 14 })];
  const stripes = Math.ceil(field.length_yd / STRIPE_YD);
  for (let i = 0; i < stripes; i++) {
    const from = i * STRIPE_YD * along;
    const stripe = Math.min(STRIPE_YD * along, length - from);
    parts.push(svg("rect", { class: i % 2 ? "turf odd" : "turf", x: from, y: 0, width: stripe, height: width }));
  }
  /** @param {string} name @param {Point} from @param {Point} to */
  const line = (name, from, to) => {
    const [[x1, y1], [x2, y2]] = [toDrawing(...from), toDrawing(...to)];
    return svg("line", { class: name, x1, y1, x2, y2 });
  };
  for (const yard of every(field.yard_line_every_yd, field.length_yd)) {
    parts.push(line("yard", [yard * along, 0], [yard * along, width]));
  }
  if (field.hash_every_yd) {
    const half = (field.hash_length_yd * across) / 2;
    for (const row of field.hash_rows_y_yd) {
      for (const yard of every(field.hash_every_yd, field.length_yd)) {
        parts.push(line("hash", [yard * along, row * across - half], [yard * along, row * across + half]));
      }
    }
  }
  parts.push(svg("rect", { class: "bounds", x: 0, y: 0, width: length, height: width }));
  return [...parts, ...yardNumbers(field, toDrawing)];
}

/** @param {Service.FieldModel} field @param {(x_mm: number, y_mm: number) => Point} toDrawing */
function yardNumbers(field, toDrawing) {
  if (!field.number_every_yd) return [];
  const height = field.number_height_yd * field.mm_per_yd_y;
  const parts = [];
  for (const yard of every(field.number_every_yd, field.length_yd)) {
    const shown = field.number_style === "through" ? yard : Math.min(yard, field.length_yd - yard);
    for (const row of field.number_rows_y_yd) {
      const [x, y] = toDrawing(yard * field.mm_per_yd_x, row * field.mm_per_yd_y);
      parts.push(svg("text", { class: "yards", x, y, "font-size": height * 1.25 }, String(Math.round(shown))));
    }
  }
  return parts;
}

/**
 * @param {Service.FieldModel} field
 * @param {Service.TeamView} team
 * @param {number} end -1 for the left one, 1 for the right one
 * @param {boolean} rotated
 */
function endZone(field, team, end, rotated) {
  const { length, width } = size(field);
  const depth = field.end_zone_yd * field.mm_per_yd_x;
  if (depth === 0) return svg("g");
  const right = end > 0 !== rotated;
  const x = right ? length : -depth;
  const [middle, center] = [x + depth / 2, width / 2];
  const zone = svg(
    "g",
    {},
    svg("rect", { x, y: 0, width: depth, height: width }),
    svg(
      "text",
      {
        x: middle,
        y: center,
        "font-size": depth * 0.5,
        transform: `rotate(${right ? 90 : -90} ${middle} ${center})`,
        ...(team.name.length > 10 ? { textLength: width * 0.86, lengthAdjust: "spacingAndGlyphs" } : {}),
      },
      team.name.toUpperCase(),
    ),
  );
  applyTeamColors(zone, team);
  return zone;
}

/** @param {Point} a @param {Point} b */
function contactMark([x1, y1], [x2, y2]) {
  return svg("circle", { class: "contact", cx: (x1 + x2) / 2, cy: (y1 + y2) / 2, r: 6 });
}

/** @param {Point} at */
function looseBall([x, y]) {
  return svg("ellipse", { class: "loose-ball", cx: x, cy: y, rx: 9, ry: 6 });
}
