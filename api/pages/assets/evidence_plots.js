// Plots over time of what was measured, with a cursor that is the frame: moving one moves the other.

import { around, find, svg } from "./dom.js";
import { formatPlayer } from "./format.js";
import { middle } from "./evidence_drawings.js";

/** A measured value, `ms` after the call. @typedef {{ ms: number, value: number, sigma?: number }} Sample */

/** Where a figure's middle and front were, mm on the board. @typedef {{ ms: number, center: Point, front: Point }} Walk */

/**
 * What one plot shows. `zero`: with a line at 0; `steps`: the words for 0 and 1, where nothing lies between them.
 *
 * @typedef {{ title: string, unit: string, digits: number, zero?: boolean, steps?: string[], lines: { name: string, part: string, points: Sample[] }[] }} Series
 */

const HEIGHT_PX = 104;
const SPACE = { left: 52, right: 12, top: 22, bottom: 16 };
const SPEED_FRAMES = 2; // to each side: the way over five frames, as one frame's error would drown a slow walk

/**
 * The series of the figures concerned, by their drawings; times in ms from the call.
 *
 * @param {Service.EvidenceFrame[]} frames
 * @param {Map<number, Service.FrameDrawing>} drawn
 * @param {number} called_ns
 * @returns {Series[]}
 */
export function seriesOf(frames, drawn, called_ns) {
  const rows = frames.flatMap(({ frame, t_ns }) => {
    const drawing = drawn.get(frame);
    return drawing === undefined ? [] : [{ ms: (t_ns - called_ns) / 1e6, drawing }];
  });
  const gap = rows.flatMap(({ ms, drawing: { gap } }) => (gap === null ? [] : [{ ms, value: gap.gap_mm, sigma: gap.sigma_mm }]));
  /** @type {Map<string, { id: string, part: string, points: Walk[] }>} */
  const ways = new Map();
  for (const { ms, drawing } of rows) {
    for (const { id, part, mm } of drawing.figures.filter(({ part: one }) => one !== "other")) {
      const way = ways.get(id) ?? { id, part, points: [] };
      ways.set(id, way);
      way.points.push({ ms, center: middle(mm), front: middle(mm.slice(0, 2)) });
    }
  }
  const figures = [...ways.values()].slice(0, 2);
  /** @type {Series[]} */
  const series = [
    { title: "Gap", unit: "mm", digits: 2, zero: true, lines: gap.length ? [{ name: "gap", part: "gap", points: gap }] : [] },
    { title: "Speed", unit: "mm/s", digits: 0, lines: figures.map(({ id, part, points }) => ({ name: formatPlayer(id), part, points: speeds(points) })) },
    { title: "Heading", unit: "°", digits: 1, lines: figures.map(({ id, part, points }) => ({ name: formatPlayer(id), part, points: headings(points) })) },
    { title: "Board", unit: "", digits: 0, steps: ["off", "on"], lines: [{ name: "power", part: "board", points: rows.filter(({ drawing }) => drawing.board !== "unknown").map(({ ms, drawing }) => ({ ms, value: drawing.board === "on" ? 1 : 0 })) }] },
  ];
  return series.filter(({ lines }) => lines.some(({ points }) => points.length > 1));
}

/** @param {Walk[]} points @returns {Sample[]} */
function speeds(points) {
  return points.slice(SPEED_FRAMES, -SPEED_FRAMES).map(({ ms }, index) => {
    const [from, to] = [points[index], points[index + 2 * SPEED_FRAMES]];
    return { ms, value: (1000 * Math.hypot(to.center[0] - from.center[0], to.center[1] - from.center[1])) / (to.ms - from.ms) };
  });
}

/** Headings without the jump from 180 to -180 degrees. @param {Walk[]} points @returns {Sample[]} */
function headings(points) {
  /** @type {?number} */
  let last = null;
  return points.map(({ ms, center, front }) => {
    let value = (Math.atan2(front[1] - center[1], front[0] - center[0]) * 180) / Math.PI;
    if (last !== null) value += 360 * Math.round((last - value) / 360);
    last = value;
    return { ms, value };
  });
}

/** A switch does not pass through what lies between on and off. @param {Sample[]} rows @returns {Point[]} */
const stairs = (rows) => rows.flatMap(({ ms, value }, index) => (index ? [[ms, rows[index - 1].value], [ms, value]] : [[ms, value]]));

/** The values, so many errors higher. @param {Sample[]} rows @param {number} sigmas @returns {Point[]} */
const edge = (rows, sigmas) => rows.map(({ ms, value, sigma = 0 }) => [ms, value + sigmas * sigma]);

/** A number without the sign of zero. @param {number} value @param {number} digits */
const rounded = (value, digits) => value.toFixed(digits).replace(/^-(0(\.0*)?)$/, "$1");

export class Plots {
  /**
   * @param {HTMLElement} box where they stand
   * @param {(ms: number) => void} onPick called with the time, ms from the call, that was pointed at
   */
  constructor(box, onPick) {
    this.box = box;
    this.onPick = onPick;
    /** @type {Series[]} */
    this.series = [];
    this.ms = 0;
    this.low = 0; // ms from the call, where the plots begin
    this.high = 0; // and where they end
    this.width = 0; // of the plots, pixels of the screen
    new ResizeObserver(() => this.#draw()).observe(box);
    /** @param {PointerEvent} event */
    const pick = (event) => {
      const plot = around(event, ".plot", SVGElement);
      if (plot === null || (event.type === "pointermove" && event.buttons === 0)) return;
      const x = event.clientX - plot.getBoundingClientRect().left;
      this.onPick(this.low + ((x - SPACE.left) / this.width) * (this.high - this.low));
    };
    for (const type of /** @type {const} */ (["pointerdown", "pointermove"])) box.addEventListener(type, pick);
  }

  /** @param {Series[]} series */
  show(series) {
    this.series = series;
    this.#draw();
  }

  /** Move the cursor. @param {number} ms */
  moveTo(ms) {
    this.ms = ms;
    for (const [index, plot] of [...this.box.children].entries()) {
      find(plot, ".cursor", SVGElement).setAttribute("transform", `translate(${this.#x(ms).toFixed(1)},0)`);
      find(plot, ".value", SVGElement).textContent = this.#valueText(this.series[index]);
    }
  }

  /** @param {number} ms */
  #x(ms) {
    return SPACE.left + ((ms - this.low) / (this.high - this.low)) * this.width;
  }

  /** The values at the cursor in words. @param {Series} series */
  #valueText({ lines, unit, digits, steps }) {
    return lines
      .flatMap(({ name, points }) => points.filter(({ ms }) => Math.abs(ms - this.ms) < 1e-6).slice(0, 1).map((point) => ({ name, ...point })))
      .map(({ name, value, sigma }) => `${lines.length > 1 ? `${name} ` : ""}${steps ? steps[value] : rounded(value, digits)}${sigma ? ` ± ${sigma.toFixed(digits)}` : ""} ${unit}`.trim())
      .join(" · ");
  }

  #draw() {
    const times = this.series.flatMap(({ lines }) => lines.flatMap(({ points }) => points.map(({ ms }) => ms)));
    [this.low, this.high] = [Math.min(...times), Math.max(...times)];
    this.width = this.box.clientWidth - SPACE.left - SPACE.right;
    if (!(this.high > this.low) || this.width < 50) {
      this.box.replaceChildren();
      return;
    }
    this.box.replaceChildren(...this.series.map((series) => this.#plot(series)));
    this.moveTo(this.ms);
  }

  /** @param {Series} series */
  #plot({ title, unit, lines, zero, steps, digits }) {
    const values = lines.flatMap(({ points }) => points.flatMap(({ value, sigma = 0 }) => [value - sigma, value + sigma]));
    const ends = steps ? [0, 1] : [Math.min(...values, ...(zero ? [0] : [])), Math.max(...values, ...(zero ? [0] : []))];
    const pad = Math.max((ends[1] - ends[0]) * 0.08, 0.05);
    const [low, high] = [ends[0] - pad, ends[1] + pad];
    const deep = HEIGHT_PX - SPACE.top - SPACE.bottom;
    /** @param {number} value */
    const y = (value) => SPACE.top + (1 - (value - low) / (high - low)) * deep;
    /** @param {readonly Point[]} rows */
    const points = (rows) => rows.map(([ms, value]) => `${this.#x(ms).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
    /** Around the values, an error wide to either side. @param {Sample[]} rows */
    const band = (rows) => points([...edge(rows, 1), ...edge(rows, -1).reverse()]);
    /** @param {number} at @param {string} name */
    const across = (at, name) => svg("line", { class: name, x1: SPACE.left, x2: SPACE.left + this.width, y1: at, y2: at });
    return svg(
      "svg",
      { class: "plot", width: "100%", height: HEIGHT_PX, role: "img", "aria-label": `${title} over time` },
      svg("text", { class: "title", x: 4, y: 14 }, unit ? `${title}, ${unit}` : title),
      svg("text", { class: "value", x: SPACE.left + this.width, y: 14, "text-anchor": "end" }),
      ...[ends[0], ends[1]].map((value) => svg("text", { x: SPACE.left - 6, y: y(value) + 4, "text-anchor": "end" }, steps ? steps[value] : rounded(value, Math.min(1, digits)))),
      across(y(low), "axis"),
      zero && across(y(0), "zero"),
      svg("line", { class: "call-time", x1: this.#x(0), x2: this.#x(0), y1: SPACE.top, y2: HEIGHT_PX - SPACE.bottom }),
      lines.map(({ part, points: rows }) => [
        rows.some(({ sigma = 0 }) => sigma > 0) && svg("polygon", { class: `band ${part}`, points: band(rows) }),
        svg("polyline", { class: `curve ${part}`, points: points(steps ? stairs(rows) : edge(rows, 0)) }),
      ]),
      svg("line", { class: "cursor", x1: 0, x2: 0, y1: SPACE.top, y2: HEIGHT_PX - SPACE.bottom }),
      svg("text", { x: this.#x(0), y: HEIGHT_PX - 3, "text-anchor": "middle" }, "call"),
    );
  }
}
