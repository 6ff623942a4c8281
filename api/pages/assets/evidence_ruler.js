// A ruler and an angle of the user's own. The service measures, with the calibration's error; the page only points.

import { svg } from "./dom.js";
import { placeLabels } from "./evidence_labels.js";
import { middle, path } from "./evidence_drawings.js";
import { errorText } from "./send.js";

const GRAB_PX = 26; // as near as a fingertip
const POINTS = { ruler: 2, angle: 3 };

export class Ruler {
  /**
   * @param {HTMLElement} box the picture's
   * @param {object} scene {view(), toScreen(coordinates), toCoordinates(screen point), measure(points, unit)}
   * @param {function} onChange called when the points or the result have changed
   */
  constructor(box, scene, onChange) {
    Object.assign(this, { box, scene, onChange });
    this.mode = null;
    this.#clear();
    box.addEventListener("pointerdown", (event) => this.#press(event));
    box.addEventListener("pointermove", (event) => this.#drag(event));
    for (const type of ["pointerup", "pointercancel"]) box.addEventListener(type, () => (this.dragged = -1));
  }

  /** Begin with a ruler or an angle, or put it away. */
  use(mode) {
    this.mode = this.mode === mode ? null : mode;
    this.#clear();
    this.onChange();
  }

  /** Measure anew on another plane or frame; the points stay where they are in the picture. */
  refresh() {
    if (this.points.length >= 2) this.#measure();
  }

  /** Keep the points on the board when the view changes; without a result there is nothing to go by. */
  changeView(unit) {
    this.points = this.result?.points.map((point) => point[unit]) ?? [];
    this.onChange();
  }

  /** SVG elements; the label keeps clear of the boxes that are taken. */
  draw(bounds, taken) {
    if (this.mode === null) return [];
    const points = this.points.map((point) => this.scene.toScreen(point));
    const label = points.length >= 2 && this.result ? [{ text: this.result.text[0], at: labelPlace(points), away: awayFrom(points), tone: "ruler" }] : [];
    taken.push(...points.map(([x, y]) => ({ x: x - 12, y: y - 12, width: 24, height: 24 })));
    return [
      path(points, "ruler"),
      points.map(([x, y]) => svg("path", { class: "ruler", d: `M${x - 9},${y}h6M${x + 3},${y}h6M${x},${y - 9}v6M${x},${y + 3}v6` })),
      placeLabels(label, taken, bounds),
    ];
  }

  /** What is to be told below the picture. */
  get text() {
    if (this.mode === null) return "";
    const missing = POINTS[this.mode] - this.points.length;
    if (missing > 0) return `Tap ${["", "one more point", "two points", "three points: an arm, the corner, the other arm"][missing]}.`;
    return this.problem ?? (this.result ? this.result.text.join(" · ") + ` · one pixel is ${this.result.pixel_mm.toFixed(2)} mm here` : "Measuring…");
  }

  #clear() {
    this.points = [];
    this.result = null;
    this.problem = null;
    this.dragged = -1;
  }

  #press(event) {
    if (this.mode === null || this.scene.view() === null) return;
    const at = this.#position(event);
    const distances = this.points.map((point) => Math.hypot(...[0, 1].map((axis) => this.scene.toScreen(point)[axis] - at[axis])));
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

  #drag(event) {
    if (this.mode === null || this.dragged < 0) return;
    this.points[this.dragged] = this.scene.toCoordinates(this.#position(event));
    this.#changed();
  }

  #changed() {
    this.onChange();
    if (this.points.length === POINTS[this.mode]) this.#measure();
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
        if (points === this.points || this.dragged >= 0) Object.assign(this, { result, problem: null });
      } catch (error) {
        Object.assign(this, { result: null, problem: errorText(error) });
      }
      this.onChange();
    } while (this.again);
    this.measuring = false;
  }

  #position(event) {
    const { left, top } = this.box.getBoundingClientRect();
    return [event.clientX - left - this.box.clientLeft, event.clientY - top - this.box.clientTop];
  }
}

/** In the middle of a ruler, or at the corner of an angle. */
const labelPlace = (points) => (points.length === 2 ? middle(points) : points[1]);

function awayFrom(points) {
  if (points.length === 3) {
    const arms = middle([points[0], points[2]]);
    return [points[1][0] - arms[0], points[1][1] - arms[1]];
  }
  return [points[1][1] - points[0][1], points[0][0] - points[1][0]];
}
