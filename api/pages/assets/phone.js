// This phone is the camera: its picture goes to the rig by WebRTC (WHIP, RFC 9725), and the rig says what is wrong with it.

import { el, elementsOf, fragment, refresh, setText } from "./dom.js";
import { RefusedError, errorText, fetchOnce, send } from "./send.js";

const at = elementsOf("phone");

const SAY_MS = 1_000;
const GATHER_MS = 1_500; // addresses of all networks are found by then, as no server is asked for more
const DIM_MS = 20_000;
const LOST_MS = 2_500; // a connection that does not come back by itself is made anew
const MOST_BITS = 12_000_000;
const BEST = { width: { ideal: 1920 }, height: { ideal: 1080 }, frameRate: { ideal: 60 }, facingMode: { ideal: "environment" } };
const GOOD_TILT_DEG = 12;
const BUBBLE_PX = 2; // for each degree

/** @typedef {{ level: number, charging: boolean }} Battery */
/** @typedef {MediaTrackCapabilities & { focusMode?: string[], exposureMode?: string[], zoom?: { min: number } }} CameraAbilities */

/** @type {?MediaStreamTrack} */
let track = null;
/** @type {?RTCPeerConnection} */
let connection = null;
let session = ""; // the address that ends it
/** @type {?number} */
let startAngle = null; // how the phone was held when the board was seen; null until then
let lostSince = 0;
let seenSince = 0;
let held = false; // whether the exposure is held
let wishes = {}; // what the camera was asked for beyond its size and rate
let running = false;
let connecting = false;
let tilt = NaN;
/** @type {?Battery} */
let battery = null;

const angle = () => screen.orientation?.angle ?? 0;

at("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  setText(at("problem"), "");
  askForTilt();
  try {
    await pair();
    await openCamera();
  } catch (error) {
    setText(at("problem"), cameraProblem(error));
    return;
  }
  running = true;
  at("start").hidden = true;
  at("running").hidden = false;
  document.body.dataset.step = "running";
  stayAwake();
  const { getBattery } = /** @type {{ getBattery?: () => Promise<Battery> }} */ (/** @type {unknown} */ (navigator));
  battery = (await getBattery?.call(navigator).catch(() => null)) ?? null;
  say();
});

/** Redeem the code that was typed, or that of the address, on a page that may have the camera; a phone that is the camera already needs none. */
async function pair() {
  if (!navigator.mediaDevices) throw new RefusedError({ detail: "Browsers give the camera to secure pages only. Open this page by the code that the rig shows." });
  const code = at("code").value.trim() || fragment();
  /** @type {Service.SessionDetails} */
  let session = await send("api/session", null, { method: "GET" });
  at("code-field").hidden = session.role === "camera";
  if (code && session.role !== "camera") session = await send("api/session", { code });
  history.replaceState(null, "", location.pathname); // a code can be used once
  if (session.role === "camera") return;
  throw new RefusedError({ detail: "Scan the code that the rig shows under “Use my phone”, or type it here." });
}

/** @param {unknown} error */
function cameraProblem(error) {
  if (!(error instanceof DOMException)) return errorText(error);
  if (error.name === "NotAllowedError") return "The browser was not allowed to use the camera. Allow it in the page’s settings, beside its address, and load the page again.";
  if (error.name === "NotFoundError") return "This device has no camera.";
  return `The camera can’t be opened (${error.message}). Close other apps that use it, and try again.`;
}

async function openCamera() {
  track?.stop();
  const stream = await navigator.mediaDevices.getUserMedia({ video: BEST, audio: false });
  [track] = stream.getVideoTracks();
  track.contentHint = "detail";
  held = false;
  wishes = {};
  const able = abilities();
  await constrain({ ...(able.zoom && { zoom: able.zoom.min }), ...(able.focusMode?.includes("continuous") && { focusMode: "continuous" }) });
  at("preview").srcObject = stream;
}

const abilities = () => /** @type {CameraAbilities} */ (track?.getCapabilities?.() ?? {});

/** Set what not every browser knows, beside what was set before. @param {object} wanted */
async function constrain(wanted) {
  wishes = { ...wishes, ...wanted };
  if (track && Object.keys(wishes).length) await track.applyConstraints({ ...BEST, advanced: [wishes] }).catch(() => {});
}

async function connect() {
  if (connecting || !track) return;
  connecting = true;
  try {
    connection?.close();
    const made = (connection = new RTCPeerConnection());
    const transceiver = made.addTransceiver(track, { direction: "sendonly", sendEncodings: [{ maxBitrate: MOST_BITS, maxFramerate: 60 }] });
    const formats = RTCRtpSender.getCapabilities("video")?.codecs ?? [];
    const isH264 = (/** @type {{ mimeType: string }} */ { mimeType }) => mimeType === "video/H264"; // which the rig records as it comes
    transceiver.setCodecPreferences?.([...formats.filter(isH264), ...formats.filter((one) => !isH264(one))]);
    await made.setLocalDescription(await made.createOffer());
    await gathered(made);
    const body = made.localDescription?.sdp ?? "";
    const answer = await fetchOnce("api/phone/whip", { method: "POST", headers: { "Content-Type": "application/sdp" }, body });
    if (!answer.ok) throw new RefusedError(await answer.json());
    session = answer.headers.get("Location") ?? "";
    await made.setRemoteDescription({ type: "answer", sdp: await answer.text() });
    const settings = transceiver.sender.getParameters();
    await transceiver.sender.setParameters({ ...settings, degradationPreference: "maintain-resolution" }).catch(() => {});
    setText(at("problem"), "");
  } catch (error) {
    connection?.close();
    setText(at("problem"), errorText(error));
  } finally {
    connecting = false;
    lostSince = 0;
  }
}

/** Wait until all addresses are found. @param {RTCPeerConnection} made */
const gathered = (made) =>
  new Promise((resolve) => {
    setTimeout(resolve, GATHER_MS);
    made.addEventListener("icegatheringstatechange", () => made.iceGatheringState === "complete" && resolve(null));
  });

/** Say how the phone is, and show what the rig sees; connect again where it sees nothing. */
async function say() {
  if (!running) return;
  try {
    await reopened();
    /** @type {Service.PhoneAdvice} */
    const advice = await send("api/phone/state", await state(), { retries: [] });
    show(advice);
    if (isLost(advice.sending)) await connect();
  } catch (error) {
    setText(at("problem"), cameraProblem(error));
    seenSince = 0;
  }
  setTimeout(say, SAY_MS);
}

/** Open the camera anew where something else has taken it and the page is shown again. */
async function reopened() {
  if (document.visibilityState === "hidden" || track?.readyState === "live") return;
  await openCamera();
  await connect();
}

/** Return whether a connection is to be made: there is none, or it has been lost for a while. @param {boolean} sending */
function isLost(sending) {
  const lost = connection === null || ["failed", "closed"].includes(connection.connectionState);
  if (lost && !sending) return true;
  const quiet = !sending || connection?.connectionState === "disconnected";
  lostSince = quiet ? lostSince || Date.now() : 0;
  return quiet && Date.now() - lostSince > LOST_MS;
}

async function state() {
  const hidden = document.visibilityState === "hidden";
  const stats = connection?.connectionState === "connected" ? [...(await connection.getStats()).values()] : [];
  const limited = stats.find(({ type }) => type === "outbound-rtp")?.qualityLimitationReason ?? "";
  return {
    hidden,
    taken: !hidden && (track?.muted || track?.readyState === "ended"),
    turned: startAngle !== null && angle() !== startAngle,
    battery: battery?.level ?? null,
    charging: battery?.charging ?? false,
    limited: ["cpu", "bandwidth"].includes(limited) ? limited : "",
  };
}

/** @param {Service.PhoneAdvice} advice */
function show({ text, seen, sending, setting_up, findings }) {
  const isUpright = at("preview").videoHeight > at("preview").videoWidth;
  setText(at("text"), isUpright ? "Turn the phone on its side: the board is wider than high." : text);
  at("running").toggleAttribute("data-seen", seen);
  refresh(at("findings"), findings, () => findings.map((one) => el("div", { class: "finding" }, el("b", {}, one.text), el("p", {}, one.remedy))));
  if (sending) setText(at("problem"), "");
  seenSince = seen ? seenSince || Date.now() : 0;
  if (seen && (setting_up || startAngle === null)) startAngle = angle(); // by which the rig calibrates
  if (seen && !held) hold();
  if (!seen && findings.length) at("dark").hidden = true; // somebody has to look
  else if (seen && Date.now() - seenSince > DIM_MS) dim();
}

/** Hold the exposure, now that the board stands in its light. */
function hold() {
  held = true;
  if (abilities().exposureMode?.includes("manual")) constrain({ exposureMode: "manual" });
}

function dim() {
  setText(at("dark-text"), "Downfield’s camera. Tap to light the screen.");
  at("dark").hidden = false;
}

at("dim").addEventListener("click", dim);
at("dark").addEventListener("click", () => {
  at("dark").hidden = true;
  seenSince = seenSince && Date.now();
});
at("stop").addEventListener("click", () => {
  leave();
  location.reload();
});

function leave() {
  running = false;
  if (session) fetch(session, { method: "DELETE", keepalive: true, credentials: "same-origin" }).catch(() => {});
  connection?.close();
  track?.stop();
}

addEventListener("pagehide", () => running && leave());
document.addEventListener("visibilitychange", async () => {
  if (!running) return;
  stayAwake();
  const body = JSON.stringify(await state());
  await fetch("api/phone/state", { method: "POST", keepalive: true, credentials: "same-origin", headers: { "Content-Type": "application/json" }, body }).catch(() => {});
});

/** Keep the screen on; a browser forgets it whenever the page is hidden. */
async function stayAwake() {
  if (document.visibilityState === "visible") await navigator.wakeLock?.request("screen").catch(() => {});
}

/** Show how level the phone hangs; iPhones ask first, and only after a tap. */
function askForTilt() {
  const { requestPermission } = /** @type {{ requestPermission?: () => Promise<string> }} */ (/** @type {unknown} */ (DeviceOrientationEvent));
  requestPermission?.().catch(() => {});
}

addEventListener("deviceorientation", ({ beta, gamma }) => {
  if (beta === null || gamma === null) return;
  tilt = Math.hypot(beta, gamma);
  at("level").hidden = at("tilt").hidden = false;
  at("level").toggleAttribute("data-good", tilt <= GOOD_TILT_DEG);
  const shift = (/** @type {number} */ degrees) => Math.max(-16, Math.min(16, degrees)) * BUBBLE_PX;
  at("bubble").style.translate = `${shift(gamma)}px ${shift(beta)}px`;
  setText(at("tilt"), `Tilted by ${tilt.toFixed(0)}°${tilt <= GOOD_TILT_DEG ? ": good" : "; 5 to 10° is best"}`);
});
