// A ruler and an angle of the user's own. The service measures, with the calibration's error; the page only points.

import { svg } from "./dom.js";
import { placeLabels } from "./evidence_labels.js";
import { middle, path } from "./evidence_drawings.js";
import { errorText } from "./send.js";

const GRAB_PX = 26; // as near as a fingertip
const POINTS = { ruler: 2, angle: 3 };

/** @typedef {"ruler" | "angle"} Mode */

/**
 * Where it measures: the view that is shown, the ways between its coordinates and the screen, and the service.
 *
 * @typedef {object} RulerScene
 * @property {() => ?View} view
 * @property {(point: Point) => Point} toScreen
 * @property {(place: Point) => Point} toCoordinates
 * @property {(points: Point[]) => Promise<Service.RulerReading>} measure
 */

export class Ruler {
  /** @type {?Mode} null while it is put away */
  mode = null;
  /** @type {Point[]} in coordinates of the view */
  points = [];
  /** @type {?Service.RulerReading} */
  result = null;
  problem = ""; // why there is no result
  dragged = -1; // the index of the point under the finger; -1 for none
  measuring = false;
  again = false; // whether the points have changed while the service measures

  /**
   * @param {HTMLElement} box the picture's
   * @param {RulerScene} scene
   * @param {() => void} onChange called when the points or the result have changed
   */
  constructor(box, scene, onChange) {
    this.box = box;
    this.scene = scene;
    this.onChange = onChange;
    box.addEventListener("pointerdown", (event) => this.#press(event));
    box.addEventListener("pointermove", (event) => this.#drag(event));
    for (const type of ["pointerup", "pointercancel"]) box.addEventListener(type, () => (this.dragged = -1));
  }

  /** Begin with a ruler or an angle, or put it away. @param {Mode} mode */
  use(mode) {
    this.mode = this.mode === mode ? null : mode;
    this.#clear();
    this.onChange();
  }

  /** Measure again on another plane or frame; the points stay where they are in the picture. */
  refresh() {
    if (this.points.length >= 2) this.#measure();
  }

  /** Keep the points on the board when the view changes; without a result there is nothing to go by. @param {"px" | "mm"} unit */
  changeView(unit) {
    this.points = this.result?.points.map((point) => point[unit]) ?? [];
    this.onChange();
  }

  /** SVG elements; the label keeps clear of the boxes that are taken. @param {Size} bounds @param {Box[]} taken @returns {SVGElement[]} */
  draw(bounds, taken) {
    if (this.mode === null) return [];
    const points = this.points.map((point) => this.scene.toScreen(point));
    /** @type {import("./evidence_labels.js").Label[]} */
    const label = points.length >= 2 && this.result ? [{ text: this.result.text[0], at: labelPlace(points), away: awayFrom(points), tone: "ruler" }] : [];
    taken.push(...points.map(([x, y]) => ({ x: x - 12, y: y - 12, width: 24, height: 24 })));
    const line = path(points, "ruler");
    return [
      ...(line === null ? [] : [line]),
      ...points.map(([x, y]) => svg("path", { class: "ruler", d: `M${x - 9},${y}h6M${x + 3},${y}h6M${x},${y - 9}v6M${x},${y + 3}v6` })),
      ...placeLabels(label, taken, bounds),
    ];
  }

  /** The result, or what to tap next, as text below the picture. */
  get text() {
    if (this.mode === null) return "";
    const missing = POINTS[this.mode] - this.points.length;
    if (missing > 0) return `Tap ${["", "one more point", "two points", "three points: an arm, the corner, the other arm"][missing]}.`;
    return this.problem || (this.result ? this.result.text.join(" · ") + ` · one pixel is ${this.result.pixel_mm.toFixed(2)} mm here` : "Measuring…");
  }

  #clear() {
    this.points = [];
    this.result = null;
    this.problem = "";
    this.dragged = -1;
  }

  /** @param {PointerEvent} event */
  #press(event) {
    if (this.mode === null || this.scene.view() === null) return;
    const at = this.#position(event);
    const distances = this.points.map((point) => {
      const [x, y] = this.scene.toScreen(point);
      return Math.hypot(x - at[0], y - at[1]);
    });
    const nearest = distances.indexOf(Math.min(...distances));
    this.dragged = nearest;
    if (!(distances[nearest] < GRAB_PX)) {
      if (this.points.length === POINTS[this.mode]) this.#clear();
      this.points = [...this.points, this.scene.toCoordinates(at)];
      this.dragged = this.points.length - 1;
    }
    this.box.setPointerCapture(event.pointerId);
    this.#changed();
  }

  /** @param {PointerEvent} event */
  #drag(event) {
    if (this.mode === null || this.dragged < 0) return;
    this.points[this.dragged] = this.scene.toCoordinates(this.#position(event));
    this.#changed();
  }

  #changed() {
    this.onChange();
    if (this.mode !== null && this.points.length === POINTS[this.mode]) this.#measure();
  }

  /** Ask the service; while it measures, the latest points wait. */
  async #measure() {
    if (this.measuring) {
      this.again = true;
      return;
    }
    this.measuring = true;
    do {
      this.again = false;
      const points = this.points;
      try {
        const result = await this.scene.measure(points);
        if (points === this.points || this.dragged >= 0) [this.result, this.problem] = [result, ""];
      } catch (error) {
        [this.result, this.problem] = [null, errorText(error)];
      }
      this.onChange();
    } while (this.again);
    this.measuring = false;
  }

  /** @param {PointerEvent} event @returns {Point} */
  #position(event) {
    const { left, top } = this.box.getBoundingClientRect();
    return [event.clientX - left - this.box.clientLeft, event.clientY - top - this.box.clientTop];
  }
}

/** In the middle of a ruler, or at the corner of an angle. @param {Point[]} points */
const labelPlace = (points) => (points.length === 2 ? middle(points) : points[1]);

/** @param {Point[]} points @returns {Point} */
function awayFrom(points) {
  if (points.length === 3) {
    const arms = middle([points[0], points[2]]);
    return [points[1][0] - arms[0], points[1][1] - arms[1]];
  }
  return [points[1][1] - points[0][1], points[0][0] - points[1][0]];
}
