// The set-up of a table: camera, field, check, play.

import { el, refresh, setText } from "./dom.js";
import { capitalize } from "./format.js";
import { errorText, send } from "./send.js";
import { Marks } from "./setup_marks.js";

const POLL_MS = 700;
const FIRST_CORNERS = [[0.15, 0.8], [0.85, 0.8], [0.85, 0.2], [0.15, 0.2]]; // shares of the picture: lower left first
const FIRST_LENGTH = [[0.4, 0.5], [0.6, 0.5]];
const FIRST_STANDING = [[0.26, 0.5], [0.1, 0.5]];
const CORNER_NAMES = ["Lower left corner", "Lower right corner", "Upper right corner", "Upper left corner"];
const ENOUGH_MOVED = 4; // places that determine a camera
const MOST_PLACED = 20; // that are sent at once

const at = (id) => document.getElementById(id);
const standButton = at("standing").querySelector("button");
const marks = new Marks(at("live"), at("marks"), at("magnifier"), onMoved);
let view = { step: "camera", cameras: [], tables: [], fields: [], findings: [], readings: [], landmarks: [], revision: -1 };
let places = []; // of the field: those in the picture are `shown`
let lengthEnds = [];
let standingEnds = []; // foot and top of something that stands on the board
let solved = 0; // counts the searches whose result was shown
let choosing = false; // whether another camera is being chosen, while the present one is still open
let placing = false; // whether corners are placed by hand before anything was solved
let problem = "";
let drawn = -1;

async function poll() {
  try {
    const response = await fetch("api/setup", { credentials: "same-origin" });
    if (response.ok) show(await response.json());
    else problem = (await response.json()).detail;
  } catch {
    problem = view.step === "saved" ? "" : "The rig does not answer. Trying again…";
  }
  setText(at("problem"), problem || capitalize(view.problem ?? ""));
  if (view.step === "saved") await lookForGame();
  setTimeout(poll, POLL_MS);
}

async function lookForGame() {
  try {
    const source = (await (await fetch("api/state", { credentials: "same-origin" })).json()).data.source;
    if (source?.live) setText(at("opening"), `${source.text} is open: the game can begin.`);
  } catch {
    setText(at("opening"), "Opening its camera…"); // the service is changing to it
  }
}

function show(next) {
  if (view.step === "saved" && next.step === "camera") return; // the service has changed to the table
  view = choosing && next.step === "aim" ? { ...next, step: "camera" } : next;
  document.body.dataset.step = view.step;
  for (const part of document.querySelectorAll("section[data-of]")) part.hidden = !part.dataset.of.includes(view.step);
  for (const item of at("steps").children) item.classList.toggle("now", item.dataset.of.split(" ").includes(view.step));
  refresh(at("findings"), view.findings, () => view.findings.map(({ text, remedy }) => el("div", { class: "finding" }, el("b", {}, text), el("p", {}, remedy))));
  refresh(at("cameras"), view.cameras, () => view.cameras.map(({ source, name }) => el("button", { type: "button", onclick: () => openCamera(source) }, name)));
  if (view.cameras.length === 0) setText(at("cameras"), "No camera is plugged into this computer.");
  refresh(at("tables"), view.tables, () => view.tables.length && [el("h2", {}, "Saved tables"), ...view.tables.map((table) => el("p", {}, `${table.in_use ? "● " : ""}${table.name}: ${table.field}`))]);
  refresh(at("field"), view.fields, () => [el("option", { value: "auto" }, "Find out"), ...view.fields.map(({ name, title }) => el("option", { value: name }, title))]);
  setText(at("summary"), view.summary);
  setText(at("advice"), view.advice);
  showReadings();
  at("by-hand").hidden = view.problem === "" || placing;
  showProgress(view.progress);
  showPicture();
}

function showReadings() {
  at("choice").hidden = view.readings.length === 0;
  at("save").hidden = view.undecided;
  setText(at("question"), view.readings.some(({ mirrored }) => mirrored) ? "In which picture do the numbers read the right way round? Tap it." : "The print can be read in several ways. Tap the picture whose lines lie on it.");
  refresh(at("readings"), [view.readings, solved], () => view.readings.map(({ label }, index) =>
    el("button", { type: "button", role: "radio", onclick: () => act("api/setup/reading", { reading: index }) },
      el("img", { src: `api/setup/readings/${index}.jpg?solved=${solved}`, alt: "" }), el("span", {}, capitalize(label)))));
  [...at("readings").children].forEach((button, index) => button.setAttribute("aria-checked", String(!view.undecided && index === view.reading)));
}

function showProgress(progress) {
  if (!progress) return;
  at("progress").value = progress.fraction;
  const left = progress.remaining_s === null ? "" : `, about ${Math.max(1, Math.round(progress.remaining_s))} s left`;
  setText(at("stage"), `${capitalize(progress.stage)}${left}`);
}

function showPicture() {
  const shown = view.size_px !== null && ["aim", "solving", "confirm"].includes(view.step);
  at("picture").hidden = !shown;
  const confirming = view.step === "confirm";
  at("lines").hidden = !confirming;
  if (shown && (!confirming || drawn !== view.revision)) at("live").src = `api/setup/picture.jpg?at=${Date.now()}`;
  if (confirming && drawn !== view.revision) {
    at("lines").src = `api/setup/lines.svg?revision=${view.revision}`;
    placing = false;
    places = view.landmarks.map((mark) => ({ ...mark, kind: mark.corner ? null : "place" }));
    lengthEnds = [];
    if (!view.problem) standingEnds = []; // else they are to be corrected
    setText(standButton, standingEnds.length ? "Use this height" : "Mark foot and top");
    at("height-again").open = view.advice !== "" || standingEnds.length > 0;
    at("again").hidden = true;
    showMarks();
  }
  if (!confirming && !placing) marks.show([]);
  drawn = confirming ? view.revision : -1;
}

function showMarks() {
  marks.show([...places.filter((mark) => mark.shown), ...lengthEnds, ...standingEnds]);
  at("place").replaceChildren(...places.filter((mark) => !mark.shown).map(({ name }) => el("option", { value: name }, name)));
}

function onMoved(mark) {
  if (mark.kind === "length") return;
  mark.moved = true;
  if (view.step === "confirm") at("again").hidden = false;
}

async function act(path, body = {}) {
  problem = "";
  if (path === "api/setup/solve") solved += 1;
  try {
    show(await send(path, body));
  } catch (error) {
    problem = errorText(error);
  }
  setText(at("problem"), problem || capitalize(view.problem ?? ""));
}

const openCamera = (source) => {
  choosing = false;
  return act("api/setup/camera", { source });
};

const fromShares = (shares) => shares.map(([x, y]) => [x * view.size_px[0], y * view.size_px[1]]);

function solveByHand(field) {
  const moved = places.filter((mark) => mark.moved);
  const used = moved.length >= ENOUGH_MOVED ? moved : [...moved, ...places.filter((mark) => mark.corner && !mark.moved)];
  const landmarks = used.slice(0, MOST_PLACED).map(({ x_yd, y_yd, px }) => ({ x_yd, y_yd, px }));
  return act("api/setup/solve", { field, landmarks });
}

at("address").addEventListener("submit", (event) => {
  event.preventDefault();
  openCamera(new FormData(event.target).get("source").trim());
});

at("find").addEventListener("click", () => {
  if (placing) {
    solveByHand(at("field").value);
    placing = false;
    return;
  }
  const height = at("height").valueAsNumber;
  act("api/setup/solve", { field: at("field").value, camera_height_mm: Number.isFinite(height) ? height : null });
});

at("by-hand").addEventListener("click", () => {
  const field = at("field").value;
  if (field === "auto") {
    problem = "Choose the printed field first.";
    setText(at("problem"), problem);
    at("field").focus();
    return;
  }
  placing = true;
  problem = "";
  const [length, width] = view.fields.find(({ name }) => name === field).size_yd;
  const corners = [[0, 0], [length, 0], [length, width], [0, width]];
  places = fromShares(FIRST_CORNERS).map((px, index) => ({ px, x_yd: corners[index][0], y_yd: corners[index][1], name: CORNER_NAMES[index], corner: true, shown: true }));
  showMarks();
});

at("again").addEventListener("click", () => solveByHand(at("field").value === "auto" ? view.field : at("field").value));

at("add").addEventListener("click", () => {
  const mark = places.find(({ name }) => name === at("place").value);
  if (!mark) return;
  mark.shown = true;
  showMarks();
  marks.focus(mark);
});

at("measure").addEventListener("click", () => {
  if (lengthEnds.length === 0) {
    lengthEnds = fromShares(FIRST_LENGTH).map((px, index) => ({ px, kind: "length", name: index ? "End of the length" : "Start of the length" }));
    showMarks();
    setText(at("measure"), "Use this length");
    return;
  }
  const length_mm = at("length").valueAsNumber;
  if (!Number.isFinite(length_mm)) {
    at("length").focus();
    return;
  }
  act("api/setup/solve", { length: { ends_px: lengthEnds.map(({ px }) => px), length_mm } });
});
at("one-length").addEventListener("toggle", (event) => {
  if (event.target.open && lengthEnds.length === 0) at("measure").click();
});

at("tape").addEventListener("submit", (event) => {
  event.preventDefault();
  act("api/setup/height", { camera_height_mm: event.target.elements.height.valueAsNumber });
});

at("standing").addEventListener("submit", (event) => {
  event.preventDefault();
  if (standingEnds.length === 0) {
    standingEnds = fromShares(FIRST_STANDING).map((px, index) => ({ px, kind: "length", name: index ? "Top of what stands" : "Foot of what stands" }));
    showMarks();
    marks.focus(standingEnds[0]); // on a phone the picture is above what was tapped
    setText(standButton, "Use this height");
    return;
  }
  const height = event.target.elements.height;
  if (!Number.isFinite(height.valueAsNumber)) {
    height.focus();
    return;
  }
  const [foot_px, top_px] = standingEnds.map(({ px }) => px);
  act("api/setup/height", { standing: { foot_px, top_px, height_mm: height.valueAsNumber } });
});

at("save").addEventListener("submit", (event) => {
  event.preventDefault();
  act("api/setup/save", { name: new FormData(event.target).get("name") });
});

at("retake").addEventListener("click", () => act("api/setup/aim"));
at("other-camera").addEventListener("click", () => {
  choosing = true;
  show(view);
});

poll();
