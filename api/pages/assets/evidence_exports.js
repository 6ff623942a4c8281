// Taking something with you: the view as a picture, and the call as a clip made by the rig.

import { clipButton, saveFile } from "./clip_saving.js";
import { el } from "./dom.js";

const DRAWN_PROPERTIES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "font-size", "font-weight", "font-family", "text-anchor"];
const MIN_SCALE = 2; // pixels of the file for one of the screen

/**
 * Build the buttons.
 *
 * @param {object} source {clip(form, speed): {path, name}, stage, name(): name of the view's file}
 * @param {function} tell shows a sentence, "" for none
 */
export function exportButtons(source, tell) {
  const clip = (form, speed, label) => clipButton(label, () => source.clip(form, speed), tell);
  return [
    clip("mp4", 1, "Video"),
    clip("mp4", 0.25, "Slow motion"),
    clip("gif", 0.25, "GIF"),
    el("button", { type: "button", class: "small", onclick: () => saveView(source.stage, source.name()) }, "This picture"),
  ];
}

/** Save what is seen, drawings and ruler included, at the full resolution of the picture where that is finer. */
async function saveView(stage, name) {
  if (stage.image === undefined) return;
  const { width, height } = stage.bounds;
  const [left, top] = stage.toScreen([-0.5, -0.5]);
  const [right, bottom] = stage.toScreen(stage.size.map((length) => length - 0.5));
  const scale = Math.max(MIN_SCALE, stage.size[0] / (right - left));
  const canvas = Object.assign(document.createElement("canvas"), { width: Math.round(width * scale), height: Math.round(height * scale) });
  const pen = canvas.getContext("2d");
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.scale(scale, scale);
  pen.drawImage(stage.image, left, top, right - left, bottom - top);
  pen.drawImage(await rendered(stage.drawing, width, height, scale), 0, 0, width, height);
  canvas.toBlob((blob) => saveFile(blob, name), "image/png");
}

/** An SVG as an image; the styles of the page go with it. */
async function rendered(drawing, width, height, scale) {
  const copy = drawing.cloneNode(true);
  const [from, to] = [drawing, copy].map((root) => [...root.querySelectorAll("*")]);
  from.forEach((node, index) => {
    const style = getComputedStyle(node);
    for (const property of DRAWN_PROPERTIES) to[index].style.setProperty(property, style.getPropertyValue(property));
  });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", width * scale);
  copy.setAttribute("height", height * scale);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
  await image.decode();
  return image;
}
