// Looking over what is believed of some pictures: turn a base round, move it, drag a corner, take it away, add one.

import { say } from "/assets/dom.js";

const NEAR_PX = 26; // of the screen: a finger's reach
const CLOSEST = 8; // times
const here = (path) => new URL(path, location.href.endsWith("/") ? location.href : `${location.href}/`);
const part = (id) => document.getElementById(id);
const CHANGE = "Tap a base to change it; tap twice, or turn the wheel, to look closer.";
const canvas = part("picture");
const pen = canvas.getContext("2d");

let pictures = [];
let number = 0;
let picked = -1;
let drag = null;
let adding = false;
let before = [];
let view = { x: 0, y: 0, zoom: 1 }; // of the picture: its left and upper edge on the canvas, and how much larger
const image = new Image();

const figures = () => pictures[number].figures;
const middle = (corners) => [0, 1].map((axis) => corners.reduce((sum, corner) => sum + corner[axis], 0) / 4);

/** Pixels of the canvas per pixel of the screen; it may have bars beside it. */
const bare = () => {
  const box = canvas.getBoundingClientRect();
  return Math.max(canvas.width / box.width, canvas.height / box.height);
};

/** Pixels of the picture per pixel of the screen. */
const scale = () => bare() / view.zoom;

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
  part("turn").disabled = part("remove").disabled = picked < 0;
  part("undo").disabled = !before.length;
  part("back").disabled = number === 0;
  say(part("where"), `Picture ${number + 1} of ${pictures.length}, ${figures().length} figures`);
  say(part("next"), number + 1 < pictures.length ? "All right ›" : "All right, learn");
}

function change(how) {
  before.push(JSON.stringify(figures()));
  how();
  draw();
}

function show(which) {
  number = which;
  picked = -1;
  before = [];
  view = { x: 0, y: 0, zoom: 1 };
  image.src = here(`pictures/${number}.jpg`);
}

image.addEventListener("load", () => {
  canvas.width = image.naturalWidth;
  canvas.height = image.naturalHeight;
  draw();
});

/** Where on the picture a pointer is. */
function place(event) {
  const box = canvas.getBoundingClientRect();
  const left = box.left + (box.width - canvas.width / bare()) / 2;
  const top = box.top + (box.height - canvas.height / bare()) / 2;
  return [view.x + (event.clientX - left) * scale(), view.y + (event.clientY - top) * scale()];
}

/** Look closer, or less close, at a place of the picture, which stays where it is on the screen. */
function zoomTo(at, zoom) {
  const by = Math.min(Math.max(zoom, 1), CLOSEST);
  const keep = (start, length, here) => {
    const moved = here - ((here - start) * view.zoom) / by;
    return Math.min(Math.max(moved, 0), length - length / by);
  };
  view = { x: keep(view.x, canvas.width, at[0]), y: keep(view.y, canvas.height, at[1]), zoom: by };
  draw();
}

const apart = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);

function addAt(at) {
  const like = figures()[0] ?? [[12, -8], [12, 8], [-12, 8], [-12, -8]];
  const [x, y] = middle(like);
  change(() => {
    figures().push(like.map((corner) => [corner[0] - x + at[0], corner[1] - y + at[1]]));
    picked = figures().length - 1;
  });
}

canvas.addEventListener("pointerdown", (event) => {
  const at = place(event);
  if (adding) {
    adding = false;
    part("add").removeAttribute("aria-pressed");
    addAt(at);
    return;
  }
  const reach = NEAR_PX * scale();
  const corner = picked < 0 ? -1 : figures()[picked].findIndex((one) => apart(one, at) < reach / 2);
  if (corner < 0) {
    const nearest = figures()
      .map((corners, row) => [apart(middle(corners), at), row])
      .sort((a, b) => a[0] - b[0])[0];
    picked = nearest && nearest[0] < reach ? nearest[1] : -1;
  }
  if (picked >= 0) {
    drag = { corner, at, kept: JSON.stringify(figures()), moved: false };
    canvas.setPointerCapture(event.pointerId);
  }
  draw();
});

canvas.addEventListener("pointermove", (event) => {
  if (!drag) return;
  const at = place(event);
  if (!drag.moved && apart(at, drag.at) < 3 * scale()) return;
  if (!drag.moved) before.push(drag.kept);
  drag.moved = true;
  const [dx, dy] = [at[0] - drag.at[0], at[1] - drag.at[1]];
  drag.at = at;
  figures()[picked].forEach((corner, k) => {
    if (drag.corner >= 0 && k !== drag.corner) return;
    corner[0] += dx;
    corner[1] += dy;
  });
  draw();
});

canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  zoomTo(place(event), view.zoom * Math.exp(-event.deltaY / 400));
});
canvas.addEventListener("dblclick", (event) => zoomTo(place(event), view.zoom > 1 ? 1 : CLOSEST / 2));

canvas.addEventListener("pointerup", () => (drag = null));
canvas.addEventListener("pointercancel", () => (drag = null));

function turn() {
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
  if (!before.length) return;
  pictures[number].figures = JSON.parse(before.pop());
  picked = -1;
  draw();
}

part("turn").addEventListener("click", turn);
part("remove").addEventListener("click", remove);
part("undo").addEventListener("click", undo);
part("back").addEventListener("click", () => show(number - 1));
part("add").addEventListener("click", () => {
  adding = !adding;
  part("add").toggleAttribute("aria-pressed", adding);
  say(part("hint"), adding ? "Tap where the figure stands, then drag its corners." : CHANGE);
});

addEventListener("keydown", (event) => {
  const does = { t: turn, Delete: remove, Backspace: remove, z: undo, Enter: next }[event.key];
  if (does && event.target.tagName !== "BUTTON") does();
});

async function send(path, method, body) {
  const answer = await fetch(here(path), {
    method,
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${answer.status}`);
}

async function next() {
  try {
    await send(`pictures/${number}`, "PUT", { figures: figures().map((corners) => ({ corners })) });
    if (number + 1 < pictures.length) show(number + 1);
    else await end("saved");
  } catch (error) {
    say(part("told"), `That was not taken (${error.message}): is downfield learn still running?`);
  }
}

async function end(outcome) {
  await send("end", "POST", { outcome });
  part("tools").hidden = canvas.hidden = part("skip").hidden = true;
  say(part("hint"), "");
  say(part("where"), "");
  say(part("told"), outcome === "saved" ? "Thank you. The network learns now; you can close this page." : "Skipped; you can close this page.");
}

part("next").addEventListener("click", next);
part("skip").addEventListener("click", () => end("skipped").catch((error) => say(part("told"), error.message)));

pictures = await (await fetch(here("pictures"))).json();
show(0);
