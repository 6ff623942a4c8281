// Checking the labels of pictures: rotate a base, move it, drag a corner, remove it, add one.

import { around, context2d, elementsOf, setText } from "./dom.js";
import { counted } from "./format.js";
import { messageOf } from "./send.js";

const REACH_PX = 26; // of the screen, for a finger
const MAX_ZOOM = 8;
/** @param {string} path */
const url = (path) => new URL(path, location.href.endsWith("/") ? location.href : `${location.href}/`);
const at = elementsOf("label_review");
const HINT = "Tap a base to change it. Double-tap or use the wheel to zoom.";
const canvas = at("picture");
const pen = context2d(canvas);

/** The corners of a base, its front left first. @typedef {Point[]} Corners */

/** @type {{ figures: Corners[] }[]} */
let pictures = [];
let number = 0;
let picked = -1;
/** @type {?{ corner: number, pointer: Point, before: string, moved: boolean }} what is dragged: a corner, or with -1 the whole base */
let drag = null;
let adding = false;
/** @type {string[]} */
let undoSteps = [];
let view = { x: 0, y: 0, zoom: 1 }; // the picture's left and upper edge on the canvas, and its scale
const image = new Image();

const figures = () => pictures[number].figures;
/** @param {Corners} corners @returns {Point} */
const center = (corners) => [mean(corners.map(([x]) => x)), mean(corners.map(([, y]) => y))];

/** @param {number[]} values */
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Canvas pixels per screen pixel; the canvas may have bars beside it. */
const canvasScale = () => {
  const box = canvas.getBoundingClientRect();
  return Math.max(canvas.width / box.width, canvas.height / box.height);
};

/** Picture pixels per screen pixel. */
const scale = () => canvasScale() / view.zoom;

function draw() {
  pen.setTransform(view.zoom, 0, 0, view.zoom, -view.x * view.zoom, -view.y * view.zoom);
  pen.drawImage(image, 0, 0);
  const thin = 1.6 * scale();
  figures().forEach((corners, row) => {
    pen.strokeStyle = row === picked ? "#f4c542" : "#4fd08a";
    pen.lineWidth = thin;
    pen.beginPath();
    corners.forEach(([x, y], k) => (k ? pen.lineTo(x, y) : pen.moveTo(x, y)));
    pen.closePath();
    pen.stroke();
    pen.lineWidth = 3.2 * thin;
    pen.beginPath();
    pen.moveTo(...corners[0]);
    pen.lineTo(...corners[1]);
    pen.stroke();
    if (row !== picked) return;
    pen.fillStyle = "#f4c542";
    for (const [x, y] of corners) {
      pen.beginPath();
      pen.arc(x, y, 2.5 * thin, 0, 2 * Math.PI);
      pen.fill();
    }
  });
  at("rotate").disabled = at("remove").disabled = picked < 0;
  at("undo").disabled = !undoSteps.length;
  at("back").disabled = number === 0;
  setText(at("progress"), `Picture ${number + 1} of ${pictures.length}, ${counted(figures().length, "figure")}`);
  setText(at("next"), number + 1 < pictures.length ? "Correct ›" : "Correct, start learning");
}

/** @param {() => void} edit */
function change(edit) {
  undoSteps.push(JSON.stringify(figures()));
  edit();
  draw();
}

/** @param {number} index */
function show(index) {
  number = index;
  picked = -1;
  undoSteps = [];
  view = { x: 0, y: 0, zoom: 1 };
  image.src = url(`pictures/${number}.jpg`).href;
}

image.addEventListener("load", () => {
  canvas.width = image.naturalWidth;
  canvas.height = image.naturalHeight;
  draw();
});

/** A pointer's position on the picture. @param {MouseEvent} event @returns {Point} */
function position(event) {
  const box = canvas.getBoundingClientRect();
  const left = box.left + (box.width - canvas.width / canvasScale()) / 2;
  const top = box.top + (box.height - canvas.height / canvasScale()) / 2;
  return [view.x + (event.clientX - left) * scale(), view.y + (event.clientY - top) * scale()];
}

/** Zoom about a position of the picture. @param {Point} at @param {number} zoom */
function zoomAt([x, y], zoom) {
  const scale = Math.min(Math.max(zoom, 1), MAX_ZOOM);
  /** @param {number} start @param {number} length @param {number} fixed */
  const clamp = (start, length, fixed) => {
    const moved = fixed - ((fixed - start) * view.zoom) / scale;
    return Math.min(Math.max(moved, 0), length - length / scale);
  };
  view = { x: clamp(view.x, canvas.width, x), y: clamp(view.y, canvas.height, y), zoom: scale };
  draw();
}

/** @param {Point} a @param {Point} b */
const distance = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);

/** @param {Point} at */
function addFigure([newX, newY]) {
  /** @type {Corners} */
  const template = figures()[0] ?? [[12, -8], [12, 8], [-12, 8], [-12, -8]];
  const [x, y] = center(template);
  change(() => {
    figures().push(template.map((corner) => [corner[0] - x + newX, corner[1] - y + newY]));
    picked = figures().length - 1;
  });
}

canvas.addEventListener("pointerdown", (event) => {
  const pointer = position(event);
  if (adding) {
    adding = false;
    at("add").removeAttribute("aria-pressed");
    addFigure(pointer);
    return;
  }
  const reach = REACH_PX * scale();
  const corner = picked < 0 ? -1 : figures()[picked].findIndex((corner) => distance(corner, pointer) < reach / 2);
  if (corner < 0) {
    const nearest = figures()
      .map((corners, row) => [distance(center(corners), pointer), row])
      .sort((a, b) => a[0] - b[0])[0];
    picked = nearest && nearest[0] < reach ? nearest[1] : -1;
  }
  if (picked >= 0) {
    drag = { corner, pointer, before: JSON.stringify(figures()), moved: false };
    canvas.setPointerCapture(event.pointerId);
  }
  draw();
});

canvas.addEventListener("pointermove", (event) => {
  if (drag === null) return;
  const pointer = position(event);
  const { corner: dragged } = drag;
  if (!drag.moved && distance(pointer, drag.pointer) < 3 * scale()) return;
  if (!drag.moved) undoSteps.push(drag.before);
  drag.moved = true;
  const [dx, dy] = [pointer[0] - drag.pointer[0], pointer[1] - drag.pointer[1]];
  drag.pointer = pointer;
  figures()[picked].forEach((corner, k) => {
    if (dragged >= 0 && k !== dragged) return;
    corner[0] += dx;
    corner[1] += dy;
  });
  draw();
});

canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  zoomAt(position(event), view.zoom * Math.exp(-event.deltaY / 400));
});
canvas.addEventListener("dblclick", (event) => zoomAt(position(event), view.zoom > 1 ? 1 : MAX_ZOOM / 2));

canvas.addEventListener("pointerup", () => (drag = null));
canvas.addEventListener("pointercancel", () => (drag = null));

function rotate() {
  if (picked >= 0) change(() => figures()[picked].push(...figures()[picked].splice(0, 2)));
}

function remove() {
  if (picked < 0) return;
  change(() => {
    figures().splice(picked, 1);
    picked = -1;
  });
}

function undo() {
  const before = undoSteps.pop();
  if (before === undefined) return;
  pictures[number].figures = JSON.parse(before);
  picked = -1;
  draw();
}

at("rotate").addEventListener("click", rotate);
at("remove").addEventListener("click", remove);
at("undo").addEventListener("click", undo);
at("back").addEventListener("click", () => show(number - 1));
at("add").addEventListener("click", () => {
  adding = !adding;
  at("add").toggleAttribute("aria-pressed", adding);
  setText(at("hint"), adding ? "Tap where the figure stands, then drag its corners." : HINT);
});

/** @type {Map<string, () => unknown>} */
const KEYS = new Map([["r", rotate], ["Delete", remove], ["Backspace", remove], ["z", undo], ["Enter", next]]);

addEventListener("keydown", (event) => {
  const action = KEYS.get(event.key);
  if (action !== undefined && around(event, "button") === null) action();
});

/** @param {string} path @param {string} method @param {object} body */
async function send(path, method, body) {
  const response = await fetch(url(path), {
    method,
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`status ${response.status}`);
}

async function next() {
  try {
    await send(`pictures/${number}`, "PUT", { figures: figures().map((corners) => ({ corners })) });
    if (number + 1 < pictures.length) show(number + 1);
    else await end("saved");
  } catch (error) {
    setText(at("message"), `Not saved (${messageOf(error)}). Is “downfield learn” still running?`);
  }
}

/** @param {"saved" | "skipped"} outcome */
async function end(outcome) {
  await send("end", "POST", { outcome });
  at("tools").hidden = canvas.hidden = at("skip").hidden = true;
  setText(at("hint"), "");
  setText(at("progress"), "");
  setText(at("message"), outcome === "saved" ? "Thank you. The network is learning now. You can close this page." : "Skipped. You can close this page.");
}

at("next").addEventListener("click", next);
at("skip").addEventListener("click", () => end("skipped").catch((error) => setText(at("message"), messageOf(error))));

pictures = await (await fetch(url("pictures"))).json();
show(0);
