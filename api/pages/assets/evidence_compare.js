// Before and after the decisive instant, side by side: the same part of two pictures, as far from the decisive frame.

import { el, svg } from "./dom.js";

const PART = 0.115; // of the width of the camera's picture, a side of the square that is shown
const CANVAS_PX = 440;

export class Comparison {
  /**
   * @param {HTMLElement} box where it stands
   * @param {object} film {load(place): a picture, or one with `problem`; label(place); decisive(); count(); center(): [x, y];
   *   draw(place, size, toScreen, bounds): what is drawn on it}
   */
  constructor(box, film) {
    Object.assign(this, { box, film });
    this.apart = 3;
    this.sides = [-1, 1].map((side) => ({ side, canvas: el("canvas", { role: "img" }), drawing: svg("svg", { class: "drawing", "aria-hidden": "true" }), label: el("figcaption") }));
    const further = (by, label) => el("button", { type: "button", class: "small", onclick: () => this.#set(this.apart + by) }, label);
    box.append(
      el("div", { class: "pair" }, this.sides.map(({ canvas, drawing, label }) => el("figure", {}, el("div", { class: "part" }, canvas, drawing), label))),
      el("div", { class: "row" }, further(-1, "Nearer"), further(1, "Further")),
    );
  }

  toggle() {
    this.box.hidden = !this.box.hidden;
    if (this.box.hidden) return;
    this.#set(this.apart);
    this.box.scrollIntoView({ block: "nearest" });
  }

  /** Draw anew what is drawn on the pictures, after it was switched on or off. */
  redraw() {
    if (this.box.hidden) return;
    for (const one of this.sides) if (one.place !== undefined) this.#drawOn(one);
  }

  #set(apart) {
    this.apart = Math.max(1, Math.min(apart, this.film.decisive(), this.film.count() - 1 - this.film.decisive()));
    for (const one of this.sides) this.#draw(one);
  }

  async #draw(one) {
    const { side, canvas, label } = one;
    const apart = this.apart;
    const place = this.film.decisive() + side * apart;
    const picture = await this.film.load(place);
    if (apart !== this.apart) return;
    label.textContent = picture.problem ?? this.film.label(place);
    canvas.setAttribute("aria-label", label.textContent);
    canvas.hidden = Boolean(picture.problem);
    Object.assign(one, { place: picture.problem ? undefined : place, image: picture.image, center: this.film.center() });
    this.#drawOn(one);
    if (picture.problem) return;
    const [x, y] = one.center;
    Object.assign(canvas, { width: CANVAS_PX, height: CANVAS_PX });
    const part = partOf(picture.image);
    const pen = canvas.getContext("2d");
    pen.imageSmoothingEnabled = false;
    pen.drawImage(picture.image, x - part / 2, y - part / 2, part, part, 0, 0, canvas.width, canvas.height);
  }
  /** Draw on one picture, in pixels of the screen; a pixel's center has integer coordinates. */
  #drawOn({ place, image, center, drawing }) {
    const { width } = drawing.getBoundingClientRect();
    const bounds = { width, height: width };
    drawing.setAttribute("viewBox", `0 0 ${width} ${width}`);
    const part = place === undefined ? 1 : partOf(image);
    const toScreen = (point) => point.map((at, axis) => ((at + 0.5 - (center[axis] - part / 2)) * width) / part);
    const size = place === undefined ? null : [image.naturalWidth, image.naturalHeight];
    drawing.replaceChildren(...(size === null || width === 0 ? [] : this.film.draw(place, size, toScreen, bounds)));
  }
}

const partOf = (image) => PART * image.naturalWidth;
