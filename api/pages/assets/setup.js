// The set-up of a table: camera, field, check, play.

import { childrenOf, el, elementsOf, fieldText, find, findAll, offerPairing, refresh, setText } from "./dom.js";
import { capitalize } from "./format.js";
import { UNPAIRED, errorText, send } from "./send.js";
import { deviceName, fillFields, keepDraft, loadDraft, readFields } from "./setup_draft.js";
import { Marks } from "./setup_marks.js";
import { usePhone } from "./setup_phone.js";
import { begin as beginTape, enter, measured } from "./setup_tape.js";

const POLL_MS = 700;
/** @typedef {import("./setup_marks.js").Mark} Mark */

/** @type {Point[]} */
const FIRST_CORNERS = [[0.15, 0.8], [0.85, 0.8], [0.85, 0.2], [0.15, 0.2]]; // shares of the picture: lower left first
/** @type {Point[]} */
const FIRST_LENGTH = [[0.4, 0.5], [0.6, 0.5]];
/** @type {Point[]} */
const FIRST_STANDING = [[0.26, 0.5], [0.1, 0.5]];
const CORNER_NAMES = ["Lower left corner", "Lower right corner", "Upper right corner", "Upper left corner"]; // goal line and sideline, as drawn
const ENOUGH_MOVED = 4; // places that determine a camera
const MOST_PLACED = 20; // that are sent at once

const DEVICE = { "Setup-Device": deviceName() };
const FIND = "Find the field";
const SAVE = "Save and play";

const at = elementsOf("setup");
const main = find(document, "main");
const standButton = find(at("standing"), "button");
const saveButton = find(at("save"), "button");
const marks = new Marks(at("live"), at("marks"), at("magnifier"), onMoved);
/** @type {Service.SetupView} */
let view = {
  step: "camera", control: "free", cameras: [], camera: "", size_px: null, findings: [], sees_field: false, progress: null, problem: "", remedy: null, readings: [], reading: 0, undecided: false,
  lengths_known: true, field: "", summary: "", certainty: "", advice: "", measure: null, landmarks: [], revision: -1, fields: [], kinds: [], tables: [],
};
let draft = loadDraft(); // until it is used: what was entered before the page was reloaded
/** What helps against a refusal, and the words for it. @type {Record<NonNullable<Service.SetupView["remedy"]>, [string, () => void]>} */
const REMEDIES = {
  measure: ["Measure the print", () => enter("goal")],
  place_corners: ["Place the corners by hand", () => at("by-hand").click()],
  choose_reading: ["Choose a picture", () => at("choice").scrollIntoView()],
  another_picture: ["Try another picture", () => (view.step === "aim" ? at("find") : at("retake")).click()],
};

/** @type {Mark[]} */
let places = []; // of the field: those in the picture are `shown`
/** @type {Mark[]} */
let lengthEnds = [];
/** @type {Mark[]} */
let standingEnds = []; // foot and top of something that stands on the board
let solved = 0; // counts the searches whose result was shown
let choosing = false; // whether another camera is being chosen, while the present one is still open
let placing = false; // whether corners are placed by hand before anything was solved
let acting = false; // whether a request is under way
let turns = 0; // counts requests, so that a state from before one is not shown after it
let problem = ""; // of the last request
let unanswered = ""; // why the state is not known
/** @type {?string} */
let placedFor = null; // which solution the places belong to
let drawn = -1;

async function poll() {
  const turn = turns;
  try {
    const response = await fetch("api/setup", { credentials: "same-origin", headers: DEVICE });
    const answer = await response.json();
    if (response.status === UNPAIRED) offerPairing();
    unanswered = response.ok ? "" : answer.detail;
    if (response.ok && turn === turns && !acting) {
      if (view.problem && !answer.problem) problem = ""; // what it was refused for is over, such as a camera without power
      show(answer);
    }
  } catch {
    unanswered = view.step === "saved" ? "" : "The rig does not answer. Trying again…";
  }
  showProblem();
  if (view.step === "saved") await lookForGame();
  setTimeout(poll, POLL_MS);
}

function showProblem() {
  const text = unanswered || problem || capitalize(view.problem);
  setText(at("problem"), text);
  at("refusal").hidden = text === "";
  const remedy = unanswered || problem || placing ? null : view.remedy;
  at("remedy").hidden = !remedy || !view.problem;
  if (remedy) setText(at("remedy"), REMEDIES[remedy][0]);
}

async function lookForGame() {
  try {
    const source = (await (await fetch("api/state", { credentials: "same-origin" })).json()).data.source;
    if (source?.live) setText(at("opening"), `${source.text} is open: the game can begin.`);
    at("to-panel").hidden = !source?.live;
  } catch {
    setText(at("opening"), "Opening its camera…"); // the service is changing to it, and shows no panel meanwhile
    at("to-panel").hidden = true;
  }
}

/** @param {Service.SetupView} next */
function show(next) {
  if (view.step === "saved" && next.step === "camera" && !next.problem) return; // the service has changed to the table
  const watching = next.control === "other";
  if (watching) choosing = false;
  view = choosing && next.step === "aim" ? { ...next, step: "camera" } : next;
  document.body.dataset.step = view.step;
  at("watching").hidden = !watching;
  for (const part of findAll(document, "main section[data-of], #lengths [data-of], details[data-of]")) {
    part.hidden = !part.dataset.of?.includes(view.step);
    part.inert = watching && view.step !== "saved";
  }
  at("marks").hidden = watching;
  at("keep-camera").hidden = !choosing;
  for (const item of childrenOf(at("steps"))) item.classList.toggle("now", item.dataset.of?.split(" ").includes(view.step));
  refresh(at("findings"), view.findings, () => view.findings.map(({ text, remedy }) => el("div", { class: "finding" }, el("b", {}, text), el("p", {}, remedy))));
  refresh(at("cameras"), view.cameras, () => view.cameras.map(({ source, name }) => el("button", { type: "button", onclick: () => openCamera(source) }, name)));
  if (view.cameras.length === 0) setText(at("cameras"), "No camera is plugged into this computer.");
  refresh(at("tables"), view.tables, () => view.tables.length > 0 && [el("h2", {}, "Saved tables"), ...view.tables.map(tableLine)]);
  refresh(at("field"), view.fields, () => [el("option", { value: "auto" }, "Find out"), ...view.fields.map(({ name, title }) => el("option", { value: name }, title))]);
  refresh(at("kind"), view.kinds, () => view.kinds.map(({ name, size_yd }) => el("option", { value: name }, `${size_yd[0]} yards`)));
  useDraft();
  setText(at("summary"), view.summary);
  setText(at("certainty"), view.certainty);
  setText(at("advice"), view.advice);
  at("advised").hidden = view.advice === "";
  at("follow").hidden = view.measure === null || view.measure === "lens";
  showReadings();
  at("by-hand").hidden = view.problem === "" && !placing;
  setText(at("by-hand"), placing ? "Let it be searched instead" : "Place the corners by hand");
  setText(at("find"), placing ? "Use these corners" : FIND);
  at("corners").hidden = !placing;
  at("kind-of-board").hidden = at("field").value !== "auto";
  showProgress(view.progress);
  showPicture();
}

/** @param {Service.SavedTable} table */
function tableLine({ in_use, name, field }) {
  const link = in_use && el("a", { href: "panel" }, "Operator panel");
  /** @param {string} label @param {string} path @param {object} [more] */
  const button = (label, path, more) =>
    el("button", { type: "button", class: "small", "aria-label": `${label}: ${name}`, onclick: () => act(`api/setup/tables/${path}`, { table: name, ...more }) }, label);
  const renamed = el("input", { "aria-label": `New name of ${name}`, value: name, maxlength: 60 });
  const rename = el("form", { class: "row", onsubmit: (/** @type {Event} */ event) => {
    event.preventDefault();
    act("api/setup/tables/rename", { table: name, name: renamed.value });
  } }, renamed, el("button", { class: "small" }, "Rename"));
  const remove = el("button", { type: "button", class: "small warn", "aria-label": `Remove ${name}`, onclick: ({ currentTarget }) => {
    if (currentTarget.textContent === "Remove") currentTarget.textContent = "Really remove";
    else act("api/setup/tables/remove", { table: name });
  } }, "Remove");
  return el("div", { class: "table-line" },
    el("p", {}, el("bdi", {}, name), `: ${field}${in_use ? ", in use. " : ""}`, link),
    el("div", { class: "row" }, !in_use && button("Play on it", "use")),
    el("details", {}, el("summary", {}, "Rename or remove"), rename, !in_use && remove));
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

/** @param {?Service.SolvingProgress} progress */
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
    if (placedFor !== solution()) beginPlaces();
    showMarks();
  }
  if (view.step === "aim" && placing && drawn === -1 && !at("marks").children.length) showMarks();
  if (!confirming && !(placing && view.step === "aim")) marks.show([]);
  drawn = confirming ? view.revision : -1;
}

const solution = () => JSON.stringify([view.camera, view.revision, view.summary]);

/** Show the places of a new solution; those of one that is shown again, after a refused correction, stay as they are. */
function beginPlaces() {
  placedFor = solution();
  placing = false;
  places = view.landmarks.map((mark) => ({ ...mark, kind: mark.corner ? null : "place" }));
  lengthEnds = [];
  standingEnds = [];
  /** @type {import("./setup_draft.js").Draft} */
  const kept = draft.placedFor === placedFor ? draft : {};
  for (const mark of places) Object.assign(mark, kept.places?.find(({ name }) => name === mark.name));
  if (kept.lengthEnds?.length) showLength(kept.lengthEnds);
  if (kept.standingEnds?.length) showStanding(kept.standingEnds);
  draft = {};
  setText(standButton, standingEnds.length ? "Use this height" : "Mark foot and top");
  at("one-length").open = lengthEnds.length > 0;
  at("height-again").open = standingEnds.length > 0;
  beginTape(view);
}

/** Enter again what was entered before the page was reloaded. */
function useDraft() {
  if (draft.fields) fillFields(main, draft.fields);
  delete draft.fields;
  if (draft.corners && view.step === "aim") placeCorners(draft.corners);
  delete draft.corners;
}

function keepEntered() {
  if (view.revision === -1) return; // nothing was shown yet, so what was kept is still to be used
  if (view.step === "saved") {
    keepDraft(null);
    return;
  }
  const fields = readFields(main);
  if (placedFor === null && !placing) { // the places that were kept are still to be used
    keepDraft({ ...draft, fields });
    return;
  }
  const first = new Set(view.landmarks.filter(({ shown }) => shown).map(({ name }) => name));
  const changed = placing ? [] : places.filter((mark) => mark.moved || (mark.shown && !first.has(mark.name)));
  keepDraft({
    placedFor,
    places: changed.map(({ name, px, moved, shown }) => ({ name, px, moved, shown })),
    corners: placing ? places.map(({ px }) => px) : null,
    lengthEnds: lengthEnds.map(({ px }) => px),
    standingEnds: standingEnds.map(({ px }) => px),
    fields,
  });
}

function showMarks() {
  marks.show([...places.filter((mark) => mark.shown), ...lengthEnds, ...standingEnds]);
  at("again").hidden = !places.some((mark) => mark.moved) || view.step !== "confirm";
  at("place").replaceChildren(...places.filter((mark) => !mark.shown).map(({ name }) => el("option", { value: name }, name)));
}

/** @param {Mark} mark */
function onMoved(mark) {
  if (mark.kind === "length") return;
  mark.moved = true;
  if (view.step === "confirm") at("again").hidden = false;
}

/** @param {string} path @param {object} [body] */
async function act(path, body = {}) {
  if (acting) return; // a second tap on the same button
  acting = true;
  turns += 1;
  problem = "";
  main.setAttribute("aria-busy", "true");
  if (path === "api/setup/solve") solved += 1;
  try {
    show(await send(path, body, { headers: DEVICE }));
  } catch (error) {
    problem = errorText(error);
  }
  acting = false;
  main.setAttribute("aria-busy", "false");
  showProblem();
}

/** @param {string} source */
const openCamera = async (source) => {
  choosing = false;
  await act("api/setup/camera", { source });
};

/** @param {Point[]} shares @returns {Point[]} */
const fromShares = (shares) => {
  const [width, height] = view.size_px ?? [0, 0]; // no place is set before there is a picture
  return shares.map(([x, y]) => [x * width, y * height]);
};

/** @param {string} field */
function solveByHand(field) {
  const moved = places.filter((mark) => mark.moved);
  const used = moved.length >= ENOUGH_MOVED ? moved : [...moved, ...places.filter((mark) => mark.corner && !mark.moved)];
  const landmarks = used.slice(0, MOST_PLACED).map(({ x_yd, y_yd, px }) => ({ x_yd, y_yd, px }));
  const { goal_to_goal_mm, side_to_side_mm } = measured();
  return act("api/setup/solve", { field, landmarks, goal_to_goal_mm, side_to_side_mm });
}

/** An address as the rig takes it: phones' apps show it without http://. @param {string} typed */
const wholeAddress = (typed) => (/^[\w-]+(\.[\w-]+)*(:\d+)?(\/.*)?$/.test(typed) && /[.:/]/.test(typed) && !typed.startsWith("/") ? `http://${typed}` : typed);

at("address").addEventListener("submit", (event) => {
  event.preventDefault();
  openCamera(wholeAddress(fieldText(at("address"), "source").trim()));
});

at("find").addEventListener("click", () => {
  if (placing) {
    solveByHand(placedField());
    return;
  }
  act("api/setup/solve", { field: at("field").value, ...measured() });
});

at("by-hand").addEventListener("click", () => {
  if (placing) {
    placing = false;
    show(view);
    return;
  }
  problem = "";
  placeCorners(fromShares(FIRST_CORNERS));
  show(view);
});

/** @param {Point[]} pixels */
function placeCorners(pixels) {
  placing = true;
  places = pixels.map((px, index) => ({ px, name: CORNER_NAMES[index], kind: "numbered", number: `${index + 1}`, corner: true, shown: true }));
  nameCorners();
  showMarks();
}

/** The field whose corners are placed: one that is known, or of so many yards. */
const placedField = () => (at("field").value === "auto" ? at("kind").value : at("field").value);

/** Say of the corners which places of the chosen field they are. */
function nameCorners() {
  const [length, width] = [...view.fields, ...view.kinds].find(({ name }) => name === placedField())?.size_yd ?? [0, 0];
  /** @type {Point[]} */
  const corners = [[0, 0], [length, 0], [length, width], [0, width]];
  places.forEach((mark, index) => Object.assign(mark, { x_yd: corners[index][0], y_yd: corners[index][1] }));
}

for (const choice of [at("field"), at("kind")]) {
  choice.addEventListener("change", () => {
    if (placing) nameCorners();
    at("kind-of-board").hidden = at("field").value !== "auto";
  });
}

at("remedy").addEventListener("click", () => {
  if (view.remedy) REMEDIES[view.remedy][1]();
});
at("follow").addEventListener("click", () => {
  if (view.measure && view.measure !== "lens") enter(view.measure === "camera_height" ? "height" : view.measure === "goal_to_goal" ? "goal" : "side");
});

at("again").addEventListener("click", () => solveByHand(at("field").value === "auto" ? view.field : at("field").value));

at("add").addEventListener("click", () => {
  const mark = places.find(({ name }) => name === at("place").value);
  if (!mark) return;
  mark.shown = true;
  showMarks();
  marks.focus(mark);
});

/** @param {Point[]} pixels */
function showLength(pixels) {
  lengthEnds = pixels.map((px, index) => ({ px, kind: "length", name: index ? "End of the length" : "Start of the length" }));
  setText(at("measure"), "Use this length");
  at("one-length").open = true;
}

/** @param {Point[]} pixels */
function showStanding(pixels) {
  standingEnds = pixels.map((px, index) => ({ px, kind: "length", name: index ? "Top of what stands" : "Foot of what stands" }));
  setText(standButton, "Use this height");
}

at("measure").addEventListener("click", () => {
  if (lengthEnds.length === 0) {
    showLength(fromShares(FIRST_LENGTH));
    showMarks();
    return;
  }
  const length_mm = at("length").valueAsNumber;
  if (!Number.isFinite(length_mm)) {
    at("length").focus();
    return;
  }
  act("api/setup/solve", { length: { ends_px: lengthEnds.map(({ px }) => px), length_mm } });
});
at("one-length").addEventListener("toggle", () => {
  if (at("one-length").open && lengthEnds.length === 0) at("measure").click();
});

at("lengths").addEventListener("submit", (event) => {
  event.preventDefault();
  if (view.step === "confirm") act("api/setup/measure", measured());
});

at("standing").addEventListener("submit", (event) => {
  event.preventDefault();
  if (standingEnds.length === 0) {
    showStanding(fromShares(FIRST_STANDING));
    showMarks();
    marks.focus(standingEnds[0]); // on a phone the picture is above what was tapped
    return;
  }
  const height = find(at("standing"), "[name=height]", HTMLInputElement);
  if (!Number.isFinite(height.valueAsNumber)) {
    height.focus();
    return;
  }
  const [foot_px, top_px] = standingEnds.map(({ px }) => px);
  act("api/setup/measure", { standing: { foot_px, top_px, height_mm: height.valueAsNumber } });
});

at("save").addEventListener("submit", (event) => {
  event.preventDefault();
  const name = find(at("save"), "[name=name]", HTMLInputElement).value;
  const same = view.tables.find((table) => bareName(table.name) === bareName(name));
  if (same && at("replaces").hidden) {
    setText(at("replaces"), `A table of that name is saved already: ${same.field}. Press again to replace it, or enter another name.`);
    at("replaces").hidden = false;
    setText(saveButton, "Replace it and play");
    return;
  }
  if (!asked) {
    askAboutGame(() => at("save").requestSubmit());
    return;
  }
  act("api/setup/save", { name });
});

let asked = false; // whether what becomes of the game in play was asked, or there is none

/** Ask before another table takes the place of one that is played on. @param {() => void} go */
async function askAboutGame(go) {
  const { source, game, calls } = await fetch("api/state", { credentials: "same-origin" }).then(async (answer) => (await answer.json()).data, () => ({}));
  asked = true;
  const isPlayed = source?.live && game && game.phase !== "over" && (game.home.points + game.away.points > 0 || (calls?.calls ?? []).length > 0);
  if (!isPlayed) {
    go();
    return;
  }
  setText(at("replaces"), `A game is in play: ${game.away.name} ${game.away.points}, ${game.home.name} ${game.home.points}. It goes on if this table has the same print; otherwise it ends, and a new one begins with the same teams. Press again to go on with this table.`);
  at("replaces").hidden = false;
  setText(saveButton, "Go on with this table");
}
at("save").addEventListener("input", () => {
  asked = false;
  at("replaces").hidden = true;
  setText(saveButton, SAVE);
});

/** A table's name as the rig compares it: letters and digits alone. @param {string} name */
const bareName = (name) => name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "");

at("retake").addEventListener("click", () => act("api/setup/aim"));
at("use-phone").addEventListener("click", () => usePhone(openCamera));
at("take-over").addEventListener("click", () => act("api/setup/control"));
at("other-camera").addEventListener("click", () => {
  choosing = true;
  show(view);
});
at("keep-camera").addEventListener("click", () => {
  choosing = false;
  show({ ...view, step: "aim" });
});

addEventListener("pagehide", keepEntered);
addEventListener("visibilitychange", keepEntered);

poll();
