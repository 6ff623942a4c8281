// Plots over time of what was measured, with a cursor that is the frame: moving one moves the other.

import { svg } from "./dom.js";
import { formatPlayer } from "./format.js";
import { middle } from "./evidence_drawings.js";

const HEIGHT_PX = 104;
const SPACE = { left: 52, right: 12, top: 22, bottom: 16 };
const SPEED_FRAMES = 2; // to each side: the way over five frames, as one frame's error would drown a slow walk

/** The series of the figures concerned, by their drawings; times in ms from the call. */
export function seriesOf(frames, drawn, called_ns) {
  const rows = frames.map(({ frame, t_ns }) => ({ ms: (t_ns - called_ns) / 1e6, drawing: drawn.get(frame) })).filter(({ drawing }) => drawing);
  const gap = rows.filter(({ drawing }) => drawing.gap).map(({ ms, drawing: { gap: { gap_mm, sigma_mm } } }) => ({ ms, value: gap_mm, sigma: sigma_mm }));
  const ways = new Map();
  for (const { ms, drawing } of rows) {
    for (const { id, part, mm } of drawing.figures.filter(({ part: one }) => one !== "other")) {
      if (!ways.has(id)) ways.set(id, { id, part, points: [] });
      ways.get(id).points.push({ ms, center: middle(mm), front: middle(mm.slice(0, 2)) });
    }
  }
  const figures = [...ways.values()].slice(0, 2);
  return [
    { title: "Gap", unit: "mm", digits: 2, zero: true, lines: gap.length ? [{ name: "gap", part: "gap", points: gap }] : [] },
    { title: "Speed", unit: "mm/s", digits: 0, lines: figures.map(({ id, part, points }) => ({ name: formatPlayer(id), part, points: speeds(points) })) },
    { title: "Heading", unit: "°", digits: 1, lines: figures.map(({ id, part, points }) => ({ name: formatPlayer(id), part, points: headings(points) })) },
    { title: "Board", unit: "", digits: 0, steps: ["off", "on"], lines: [{ name: "power", part: "board", points: rows.filter(({ drawing }) => drawing.board !== "unknown").map(({ ms, drawing }) => ({ ms, value: drawing.board === "on" ? 1 : 0 })) }] },
  ].filter(({ lines }) => lines.some(({ points }) => points.length > 1));
}

function speeds(points) {
  return points.slice(SPEED_FRAMES, -SPEED_FRAMES).map(({ ms }, index) => {
    const [from, to] = [points[index], points[index + 2 * SPEED_FRAMES]];
    return { ms, value: (1000 * Math.hypot(to.center[0] - from.center[0], to.center[1] - from.center[1])) / (to.ms - from.ms) };
  });
}

/** Headings without the jump from 180 to -180 degrees. */
function headings(points) {
  let last = null;
  return points.map(({ ms, center, front }) => {
    let value = (Math.atan2(front[1] - center[1], front[0] - center[0]) * 180) / Math.PI;
    if (last !== null) value += 360 * Math.round((last - value) / 360);
    last = value;
    return { ms, value };
  });
}

/** A switch does not pass through what lies between on and off. */
const stairs = (rows) => rows.flatMap(({ ms, value }, index) => [...(index ? [[ms, rows[index - 1].value]] : []), [ms, value]]);

/** A number without the sign of zero. */
const rounded = (value, digits) => value.toFixed(digits).replace(/^-(0(\.0*)?)$/, "$1");

export class Plots {
  /**
   * @param {HTMLElement} box where they stand
   * @param {function} onPick called with the time, ms from the call, that was pointed at
   */
  constructor(box, onPick) {
    Object.assign(this, { box, onPick });
    this.series = [];
    this.ms = 0;
    new ResizeObserver(() => this.#draw()).observe(box);
    const pick = (event) => {
      const plot = event.target.closest(".plot");
      if (plot === null || (event.type === "pointermove" && event.buttons === 0)) return;
      const x = event.clientX - plot.getBoundingClientRect().left;
      this.onPick(this.low + ((x - SPACE.left) / this.width) * (this.high - this.low));
    };
    for (const type of ["pointerdown", "pointermove"]) box.addEventListener(type, pick);
  }

  show(series) {
    this.series = series;
    this.#draw();
  }

  /** Move the cursor. */
  moveTo(ms) {
    this.ms = ms;
    for (const [index, plot] of [...this.box.children].entries()) {
      plot.querySelector(".cursor").setAttribute("transform", `translate(${this.#x(ms).toFixed(1)},0)`);
      plot.querySelector(".value").textContent = this.#told(this.series[index]);
    }
  }

  #x(ms) {
    return SPACE.left + ((ms - this.low) / (this.high - this.low)) * this.width;
  }

  /** The values at the cursor in words. */
  #told({ lines, unit, digits, steps }) {
    return lines
      .map(({ name, points }) => ({ name, point: points.find(({ ms }) => Math.abs(ms - this.ms) < 1e-6) }))
      .filter(({ point }) => point)
      .map(({ name, point: { value, sigma } }) => `${lines.length > 1 ? `${name} ` : ""}${steps ? steps[value] : rounded(value, digits)}${sigma ? ` ± ${sigma.toFixed(digits)}` : ""} ${unit}`.trim())
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

  #plot({ title, unit, lines, zero, steps, digits }) {
    const values = lines.flatMap(({ points }) => points.flatMap(({ value, sigma = 0 }) => [value - sigma, value + sigma]));
    const ends = steps ? [0, 1] : [Math.min(...values, ...(zero ? [0] : [])), Math.max(...values, ...(zero ? [0] : []))];
    const pad = Math.max((ends[1] - ends[0]) * 0.08, 0.05);
    const [low, high] = [ends[0] - pad, ends[1] + pad];
    const deep = HEIGHT_PX - SPACE.top - SPACE.bottom;
    const y = (value) => SPACE.top + (1 - (value - low) / (high - low)) * deep;
    const points = (rows) => rows.map(([ms, value]) => `${this.#x(ms).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
    const band = (rows) => points([...rows.map(({ ms, value, sigma }) => [ms, value + sigma]), ...rows.toReversed().map(({ ms, value, sigma }) => [ms, value - sigma])]);
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
        rows.some(({ sigma }) => sigma > 0) && svg("polygon", { class: `band ${part}`, points: band(rows) }),
        svg("polyline", { class: `curve ${part}`, points: points(steps ? stairs(rows) : rows.map(({ ms, value }) => [ms, value])) }),
      ]),
      svg("line", { class: "cursor", x1: 0, x2: 0, y1: SPACE.top, y2: HEIGHT_PX - SPACE.bottom }),
      svg("text", { x: this.#x(0), y: HEIGHT_PX - 3, "text-anchor": "middle" }, "call"),
    );
  }
}
