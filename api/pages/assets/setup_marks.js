// Places in a picture that a finger, a mouse or the arrow keys drag, with a magnifier beside the finger.

import { childrenOf, context2d, el } from "./dom.js";

const MAGNIFIED = 4;
const NUDGE_PX = 1; // of the camera's picture; ten times as much with Shift
/** @type {Record<string, Point>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/**
 * A place in the picture, pixels of it. Of a place of the field also where that is, and whether it is one of the field's corners, is shown,
 * or was moved; `kind` is a class of its handle, and `number` is written in that.
 *
 * @typedef {{ px: Point, name: string, kind?: ?string, number?: string, x_yd?: number, y_yd?: number, corner?: boolean, shown?: boolean, moved?: boolean }} Mark
 */

/** Draggable marks over an image. */
export class Marks {
  /**
   * @param {HTMLImageElement} image the picture
   * @param {HTMLElement} layer lies over it
   * @param {HTMLCanvasElement} magnifier shows what is under the finger
   * @param {(mark: Mark) => void} moved called after a mark was moved
   */
  constructor(image, layer, magnifier, moved) {
    this.image = image;
    this.layer = layer;
    this.magnifier = magnifier;
    this.moved = moved;
    /** @type {Mark[]} */
    this.marks = [];
    // A drag of the browser's own, of the picture or of selected text, would end that of a mark.
    layer.parentElement?.addEventListener("dragstart", (event) => event.preventDefault());
    new ResizeObserver(() => this.place()).observe(image);
    image.addEventListener("load", () => this.place());
  }

  /** Show other marks: objects with `px`, `name` and optionally `kind`; `px` changes as they are dragged. @param {Mark[]} marks */
  show(marks) {
    this.marks = marks;
    this.layer.replaceChildren(...marks.map((mark) => this.handle(mark)));
    this.place();
  }

  /** Put the keyboard's focus on a mark that is shown, and magnify it. @param {Mark} mark */
  focus(mark) {
    childrenOf(this.layer)[this.marks.indexOf(mark)]?.focus();
    this.magnify(mark);
  }

  place() {
    const scale = this.image.clientWidth / (this.image.naturalWidth || 1);
    childrenOf(this.layer).forEach((handle, index) => {
      const [x, y] = this.marks[index].px;
      handle.style.left = `${(x + 0.5) * scale}px`;
      handle.style.top = `${(y + 0.5) * scale}px`;
    });
  }

  /** @param {Mark} mark */
  handle(mark) {
    const handle = el("button", { type: "button", class: mark.kind ?? null, "aria-label": `${mark.name}: drag, or use the arrow keys` }, mark.number ?? "");
    /** @param {PointerEvent} event */
    const drag = (event) => {
      const box = this.image.getBoundingClientRect();
      const scale = this.image.naturalWidth / box.width;
      this.move(mark, (event.clientX - box.left) * scale - 0.5, (event.clientY - box.top) * scale - 0.5);
    };
    handle.addEventListener("pointerdown", (event) => {
      handle.setPointerCapture(event.pointerId);
      handle.addEventListener("pointermove", drag);
      this.magnify(mark);
    });
    const end = () => {
      handle.removeEventListener("pointermove", drag);
      this.magnifier.hidden = true;
    };
    handle.addEventListener("pointerup", end);
    handle.addEventListener("pointercancel", end);
    handle.addEventListener("keydown", (event) => {
      const step = ARROWS[event.key];
      if (step === undefined) return;
      event.preventDefault();
      const far = event.shiftKey ? 10 * NUDGE_PX : NUDGE_PX;
      this.move(mark, mark.px[0] + step[0] * far, mark.px[1] + step[1] * far);
    });
    handle.addEventListener("blur", () => { this.magnifier.hidden = true; });
    return handle;
  }

  /** @param {Mark} mark @param {number} x @param {number} y */
  move(mark, x, y) {
    mark.px = [Math.min(Math.max(x, 0), this.image.naturalWidth - 1), Math.min(Math.max(y, 0), this.image.naturalHeight - 1)];
    this.place();
    this.magnify(mark);
    this.moved(mark);
  }

  /** @param {Mark} mark */
  magnify(mark) {
    const { width, height } = this.magnifier;
    const context = context2d(this.magnifier);
    const [wide, high] = [width / MAGNIFIED, height / MAGNIFIED];
    context.fillRect(0, 0, width, height);
    context.drawImage(this.image, mark.px[0] + 0.5 - wide / 2, mark.px[1] + 0.5 - high / 2, wide, high, 0, 0, width, height);
    context.strokeStyle = "#f4c542";
    context.beginPath();
    context.moveTo(width / 2, height * 0.3);
    context.lineTo(width / 2, height * 0.7);
    context.moveTo(width * 0.3, height / 2);
    context.lineTo(width * 0.7, height / 2);
    context.stroke();
    // On the other side of the picture, so that the hand does not cover it.
    this.magnifier.classList.toggle("right", mark.px[0] < this.image.naturalWidth / 2);
    this.magnifier.hidden = false;
  }
}
