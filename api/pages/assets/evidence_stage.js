// The picture in its box, and the way from its pixels to the screen and back, whatever the zoom.

import { makeZoomable } from "./zoom.js";

export class Stage {
  /** @type {HTMLImageElement | undefined} that is shown; undefined before there is one */
  image;

  /**
   * @param {HTMLElement} box holds everything
   * @param {HTMLImageElement} picture
   * @param {SVGSVGElement} drawing lies over it
   * @param {{ onView: () => void, claims: () => boolean }} options called when zoom or size have changed; whether a tool takes a pointer
   */
  constructor(box, picture, drawing, options) {
    this.picture = picture;
    this.drawing = drawing;
    this.zoomable = makeZoomable(box, picture, options);
  }

  /** Show a loaded picture. @param {{ url: string, image: HTMLImageElement }} picture @param {number} name */
  show({ url, image }, name) {
    this.image = image;
    this.picture.src = url;
    this.picture.dataset.frame = String(name);
  }

  /** The size of the box to a fraction of a pixel: a rounded one would shift the drawings when zoomed. */
  get bounds() {
    const { width, height } = this.drawing.getBoundingClientRect();
    return { width, height };
  }

  /** The size of the picture in its own pixels; null before there is one. @returns {?Point} */
  get size() {
    return this.image === undefined ? null : [this.image.naturalWidth, this.image.naturalHeight];
  }

  /** Where a pixel of the picture is in the box; a pixel's center has integer coordinates. @param {Point} pixel @returns {Point} */
  toScreen([x, y]) {
    const { scale, left, top } = this.#fit();
    const { x: dx, y: dy, zoom } = this.zoomable.view();
    return [dx + zoom * (left + (x + 0.5) * scale), dy + zoom * (top + (y + 0.5) * scale)];
  }

  /** Which pixel of the picture a place in the box shows. @param {Point} place @returns {Point} */
  toPicture([x, y]) {
    const { scale, left, top } = this.#fit();
    const { x: dx, y: dy, zoom } = this.zoomable.view();
    return [((x - dx) / zoom - left) / scale - 0.5, ((y - dy) / zoom - top) / scale - 0.5];
  }

  /** Zoom so that a pixel of the picture comes to the middle of the box. @param {Point} pixel @param {number} zoom */
  zoomTo([x, y], zoom) {
    const { scale, left, top } = this.#fit();
    this.zoomable.zoomTo([left + (x + 0.5) * scale, top + (y + 0.5) * scale], zoom);
  }

  resetZoom() {
    this.zoomable.reset();
  }

  /** How the whole picture fits into the box before it is zoomed. */
  #fit() {
    const { width, height } = this.bounds;
    const [w, h] = this.size ?? [width || 1, height || 1];
    const scale = Math.min(width / w, height / h);
    return { scale, left: (width - w * scale) / 2, top: (height - h * scale) / 2 };
  }
}
