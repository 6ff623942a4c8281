// Before and after the instant of a call, side by side: the same part of two pictures, at first the last one that does not
// show it and the first that does, with what is known of the instant between them.

import { context2d, el, svg } from "./dom.js";

const PART = 0.115; // of the width of the camera's picture, a side of the square that is shown
const CANVAS_PX = 440;

/** One side of the comparison: -1 is before the decisive frame, 1 after it. What is shown there has a place, an image and a center. @typedef {{ side: number, canvas: HTMLCanvasElement, drawing: SVGSVGElement, label: HTMLElement, shown?: { place: number, image: HTMLImageElement, center: Point } }} Half */

/**
 * The pictures that are compared, by their places among the frames.
 *
 * @typedef {object} Film
 * @property {(place: number) => Promise<import("./evidence_pictures.js").Picture>} load
 * @property {(place: number) => string} label
 * @property {() => number} decisive
 * @property {() => number} count
 * @property {() => Point} center of what is shown, pixels of the picture
 * @property {() => ?string} between what is known of the instant between the decisive frame and the one before it; null where it is not between them
 * @property {(place: number, size: Point, toScreen: (pixel: Point) => Point, bounds: Size) => SVGElement[]} draw what lies on a picture
 */

export class Comparison {
  /**
   * @param {HTMLElement} box where it stands
   * @param {Film} film
   */
  constructor(box, film) {
    this.box = box;
    this.film = film;
    this.apart = 1; // frames, from the instant
    this.words = el("p", { class: "between", role: "status" });
    /** @type {Half[]} */
    this.halves = [-1, 1].map((side) => ({ side, canvas: el("canvas", { role: "img" }), drawing: svg("svg", { class: "drawing", "aria-hidden": "true" }), label: el("figcaption") }));
    /** @param {number} by @param {string} label */
    const further = (by, label) => el("button", { type: "button", class: "small", onclick: () => this.#set(this.apart + by) }, label);
    box.append(
      this.words,
      el("div", { class: "pair" }, this.halves.map(({ canvas, drawing, label }) => el("figure", {}, el("div", { class: "part" }, canvas, drawing), label))),
      el("div", { class: "row" }, further(-1, "Nearer"), further(1, "Further")),
    );
  }

  toggle() {
    if (!this.box.hidden) this.box.hidden = true;
    else {
      this.show();
      this.box.scrollIntoView({ block: "nearest" });
    }
  }

  show() {
    this.box.hidden = false;
    this.#set(this.apart);
  }

  /** Draw again on the pictures, after drawings were switched on or off. */
  redraw() {
    if (this.box.hidden) return;
    for (const half of this.halves) this.#drawOn(half);
  }

  /** @param {number} apart */
  #set(apart) {
    this.apart = Math.max(1, Math.min(apart, this.film.decisive(), this.film.count() - this.film.decisive()));
    this.words.textContent = this.film.between() ?? "";
    this.words.hidden = this.words.textContent === "";
    for (const half of this.halves) this.#draw(half);
  }

  /** @param {Half} half */
  async #draw(half) {
    const { side, canvas, label } = half;
    const apart = this.apart;
    const place = this.film.decisive() + (side < 0 ? -apart : apart - 1);
    if (place < 0) return;
    const { problem, image } = await this.film.load(place);
    if (apart !== this.apart) return; // another distance was chosen meanwhile
    label.textContent = problem ?? this.film.label(place);
    canvas.setAttribute("aria-label", label.textContent);
    canvas.hidden = image === undefined;
    const center = this.film.center();
    half.shown = image && { place, image, center };
    this.#drawOn(half);
    if (image === undefined) return;
    const [x, y] = center;
    Object.assign(canvas, { width: CANVAS_PX, height: CANVAS_PX });
    const part = partOf(image);
    const pen = context2d(canvas);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(image, x - part / 2, y - part / 2, part, part, 0, 0, canvas.width, canvas.height);
  }

  /** Draw on one picture, in pixels of the screen; a pixel's center has integer coordinates. @param {Half} half */
  #drawOn({ shown, drawing }) {
    const { width } = drawing.getBoundingClientRect();
    const bounds = { width, height: width };
    drawing.setAttribute("viewBox", `0 0 ${width} ${width}`);
    if (shown === undefined || width === 0) {
      drawing.replaceChildren();
      return;
    }
    const { place, image, center } = shown;
    const part = partOf(image);
    /** @param {number} at @param {0 | 1} axis */
    const onScreen = (at, axis) => ((at + 0.5 - (center[axis] - part / 2)) * width) / part;
    /** @param {Point} pixel @returns {Point} */
    const toScreen = ([x, y]) => [onScreen(x, 0), onScreen(y, 1)];
    drawing.replaceChildren(...this.film.draw(place, [image.naturalWidth, image.naturalHeight], toScreen, bounds));
  }
}

/** @param {HTMLImageElement} image */
const partOf = (image) => PART * image.naturalWidth;
