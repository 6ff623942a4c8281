// The loupe: the full resolution of the picture around the pointer, enlarged, with the outlines over it.

import { context2d } from "./dom.js";

export const MAGNIFICATIONS = [4, 6, 8];

const DIAMETER_PX = 190;
const ABOVE_FINGER_PX = 40;

/**
 * What is enlarged: a picture, which pixel of it a point of the screen shows, and outlines in its pixels.
 *
 * @typedef {{ image: HTMLImageElement, toPicture: (point: Point) => Point, polygons: { points: Point[], color: string }[] }} Source
 */

export class Loupe {
  /**
   * @param {HTMLElement} box the picture's box
   * @param {HTMLCanvasElement} canvas drawn on; lies in the box
   * @param {() => ?Source} source null while there is no picture
   */
  constructor(box, canvas, source) {
    this.box = box;
    this.canvas = canvas;
    this.source = source;
    this.on = false;
    this.lift = 0; // how far above the pointer it stands, pixels of the screen
    this.magnification = MAGNIFICATIONS[1];
    /** @type {?Point} */
    this.at = null;
    box.addEventListener("pointermove", (event) => this.#follow(event));
    box.addEventListener("pointerdown", (event) => this.#follow(event));
    box.addEventListener("pointerleave", ({ pointerType }) => pointerType === "mouse" && this.#moveTo(null)); // a lifted finger has left as well
  }

  /** Switch it on or off; with the keyboard it begins in the middle of the picture. */
  toggle() {
    this.on = !this.on;
    this.#moveTo(this.on ? [this.box.clientWidth / 2, this.box.clientHeight / 2] : null);
  }

  cycle() {
    this.magnification = MAGNIFICATIONS[(MAGNIFICATIONS.indexOf(this.magnification) + 1) % MAGNIFICATIONS.length];
    this.draw();
  }

  /** @param {PointerEvent} event */
  #follow(event) {
    if (!this.on) return;
    const { left, top } = this.box.getBoundingClientRect();
    this.lift = event.pointerType === "touch" ? ABOVE_FINGER_PX + DIAMETER_PX / 2 : 0;
    this.#moveTo([event.clientX - left - this.box.clientLeft, event.clientY - top - this.box.clientTop]);
  }

  /** @param {?Point} at */
  #moveTo(at) {
    this.at = at;
    this.draw();
  }

  draw() {
    const { at } = this;
    const source = this.on && at !== null ? this.source() : null;
    this.canvas.hidden = source === null;
    if (source === null || at === null) return;
    const [x, y] = source.toPicture(at);
    const density = devicePixelRatio || 1;
    const size = DIAMETER_PX * density;
    Object.assign(this.canvas, { width: size, height: size });
    const half = DIAMETER_PX / 2 / this.magnification; // of the seen part, in pixels of the picture
    const pen = context2d(this.canvas);
    pen.imageSmoothingEnabled = false;
    pen.fillStyle = "#000";
    pen.fillRect(0, 0, size, size);
    // A pixel's center has integer coordinates: its area begins half a pixel before.
    pen.setTransform(size / (2 * half), 0, 0, size / (2 * half), (half - x - 0.5) * (size / (2 * half)), (half - y - 0.5) * (size / (2 * half)));
    pen.drawImage(source.image, 0, 0);
    pen.lineWidth = (1.4 * density * 2 * half) / size;
    for (const { points, color } of source.polygons) {
      pen.strokeStyle = color;
      pen.beginPath();
      points.forEach(([px, py]) => pen.lineTo(px + 0.5, py + 0.5));
      pen.closePath();
      pen.stroke();
    }
    const lift = at[1] - this.lift - DIAMETER_PX / 2 < 0 ? -this.lift : this.lift;
    this.canvas.style.translate = `${at[0] - DIAMETER_PX / 2}px ${at[1] - lift - DIAMETER_PX / 2}px`;
    this.canvas.setAttribute("aria-label", `Loupe, ${this.magnification} times`);
  }
}
