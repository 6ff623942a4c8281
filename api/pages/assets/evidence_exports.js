// Taking something with you: the view as a picture, and the call as a clip made by the rig.

import { clipButton, saveFile } from "./clip_saving.js";
import { context2d, el, findAll } from "./dom.js";

/** @typedef {import("./evidence_stage.js").Stage} Stage */

const DRAWN_PROPERTIES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "font-size", "font-weight", "font-family", "text-anchor"];
const MIN_SCALE = 2; // pixels of the file for one of the screen

/**
 * Build the buttons.
 *
 * @param {{ clip: (form: string, speed: number) => string, stage: Stage, name: () => string }} source `name()` is that of the view's file
 * @param {ShowMessage} showMessage shows a sentence, "" for none
 */
export function exportButtons(source, showMessage) {
  /** @param {string} form @param {number} speed @param {string} label */
  const clip = (form, speed, label) => clipButton(label, () => source.clip(form, speed), showMessage);
  return [
    clip("mp4", 1, "Video"),
    clip("mp4", 0.25, "Slow motion"),
    clip("gif", 0.25, "GIF"),
    el("button", { type: "button", class: "small", onclick: () => saveView(source.stage, source.name()) }, "This picture"),
  ];
}

/**
 * Save what is seen, drawings and ruler included, at the full resolution of the picture where that is finer.
 *
 * @param {Stage} stage
 * @param {string} name
 */
async function saveView(stage, name) {
  const { image, size } = stage;
  if (image === undefined || size === null) return;
  const { width, height } = stage.bounds;
  const [left, top] = stage.toScreen([-0.5, -0.5]);
  const [right, bottom] = stage.toScreen([size[0] - 0.5, size[1] - 0.5]);
  const scale = Math.max(MIN_SCALE, size[0] / (right - left));
  const canvas = Object.assign(document.createElement("canvas"), { width: Math.round(width * scale), height: Math.round(height * scale) });
  const pen = context2d(canvas);
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.scale(scale, scale);
  pen.drawImage(image, left, top, right - left, bottom - top);
  pen.drawImage(await rendered(stage.drawing, width, height, scale), 0, 0, width, height);
  canvas.toBlob((blob) => blob && saveFile(blob, name), "image/png");
}

/**
 * An SVG as an image; the styles of the page go with it.
 *
 * @param {SVGSVGElement} drawing
 * @param {number} width
 * @param {number} height
 * @param {number} scale
 */
async function rendered(drawing, width, height, scale) {
  const copy = /** @type {SVGSVGElement} */ (drawing.cloneNode(true));
  const [from, to] = [drawing, copy].map((root) => findAll(root, "*", SVGElement));
  from.forEach((node, index) => {
    const style = getComputedStyle(node);
    for (const property of DRAWN_PROPERTIES) to[index].style.setProperty(property, style.getPropertyValue(property));
  });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", String(width * scale));
  copy.setAttribute("height", String(height * scale));
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
  await image.decode();
  return image;
}
