// The camera page: the live picture with the calibrated field drawn over it, camera health and calibration.

import { el, elementsOf, refresh, setText, showState } from "./dom.js";
import { Feed, reloadOnUpgrade } from "./feed.js";
import { capitalize, formatCallText, humanize } from "./format.js";
import { followPicture } from "./live_picture.js";
import { errorText, offerPairingIfNeeded, send } from "./send.js";

/** Between two pictures of a slower camera a figure goes farther than a base is long. */
const SLOW_FPS = 15;

const at = elementsOf("camera");
const feed = new Feed(["health", "source", "game"]);
let calibrationKey = ""; // of the calibration that is shown; "" for none

at("live").addEventListener("load", () => (at("no-picture").hidden = true));
at("live").addEventListener("error", () => {
  at("no-picture").hidden = false;
  setText(at("no-picture"), feed.link === "live" ? "No picture. Check the camera." : "The rig does not answer.");
});

at("lines").addEventListener("change", showLines);

function showLines() {
  at("field").hidden = calibrationKey === "" || !at("lines").checked;
}

feed.on("health", (health) => {
  if (health === undefined) return;
  /** @type {[string, string][]} */
  const rows = [
    ["Camera calls", health.calls],
    ["Picture size", health.size === null ? "no picture" : `${health.size.join(" × ")} px`],
    ["Frame rate", health.fps === null ? "–" : `${health.fps.toFixed(1)} fps${health.fps < SLOW_FPS ? `: too slow. Contacts are timed from ${SLOW_FPS} on` : ""}`],
    ["Latency, capture to screen", latency(health)],
    ["Dropped frames", `${health.dropped} of ${health.frames}`],
    ["Damaged frames", String(health.damaged)],
    ["Board", health.board],
    ["Recording", health.recording.on ? `on, ${Math.round(health.recording.seconds)} s` : "off"],
    ["Disk space left", health.recording.free_gb === null ? "–" : `${health.recording.free_gb.toFixed(0)} GB`],
  ];
  table(at("health"), rows);
  at("reasons").hidden = health.reasons.length === 0;
  refresh(at("reasons"), health.reasons, () =>
    health.reasons.map(({ level, text, remedy }) => el("div", { class: `reason ${level}` }, el("b", {}, formatCallText(text)), remedy && el("p", {}, formatCallText(remedy)))),
  );
  updateStatus();
  const key = JSON.stringify([health.calibration_rms_px, health.calibration_rms_yd]);
  if (key !== calibrationKey) loadCalibration(key);
});
feed.on("source", (source) => setText(at("source"), source?.text ?? ""));
feed.onLink((link) => {
  document.documentElement.dataset.link = link;
  updateStatus();
});

function updateStatus() {
  const health = feed.value("health");
  /** @type {Partial<Record<Link, string>>} */
  const links = { connecting: "Connecting…", lost: "Reconnecting…", stale: "No connection" };
  const level = feed.link === "live" ? (health?.level ?? "") : "warning";
  const text = links[feed.link] ?? capitalize(formatCallText(health?.text || humanize(health?.level ?? "live")));
  showState(at("state"), level, text);
}

/** @param {Service.HealthStatus} health */
const latency = ({ latency_ms, latency_p99_ms }) => {
  if (latency_ms === null) return "–";
  return `${latency_ms.toFixed(0)} ms${latency_p99_ms === null ? "" : `, 99% within ${latency_p99_ms.toFixed(0)} ms`}`;
};

/** Load the calibration; `key` changes with it. @param {string} key */
async function loadCalibration(key) {
  calibrationKey = key;
  const response = await fetch("api/calibration", { credentials: "same-origin" }).catch(() => null);
  const calibration = /** @type {?Service.Calibration} */ (response?.ok ? await response.json() : null);
  for (const id of /** @type {const} */ (["field", "residuals"])) {
    at(id).src = calibration === null ? "" : `api/calibration/${id}.svg?of=${encodeURIComponent(key)}`;
  }
  at("residuals").hidden = !calibration?.quality?.cells.length;
  if (calibration === null) calibrationKey = "";
  showLines();
  table(at("calibration"), calibration === null ? [["Calibration", "none yet: press Recalibrate"]] : calibrationRows(calibration));
}

/** @param {Service.Calibration} calibration @returns {[string, string][]} */
function calibrationRows({ field, method, made_at, quality, certificate, camera }) {
  /** @param {Point} pair */
  const yards = (pair) => pair.map((value) => value.toFixed(4)).join(" and ");
  return [
    ["Field", field.title],
    ["Made from", `${{ field: "the printed field", fiducials: "markers", landmarks: "points set by hand", truth: "the digital twin (exact)" }[method]}${made_at ? `, ${made_at.slice(0, 16).replace("T", " ")}` : ""}`],
    ["Lens", `${camera.lens.size_px.join(" × ")}, focal length ${camera.lens.focal_px[0].toFixed(0)} px`],
    ...(quality
      ? /** @type {[string, string][]} */ ([
          ["Residual", `${quality.rms_px.toFixed(3)} px = ${quality.rms_mm.toFixed(3)} mm rms over ${quality.points} points`],
          ["Residual in yards", `${yards(quality.rms_yd)} yd along and across`],
        ])
      : []),
    ...(certificate
      ? /** @type {[string, string][]} */ ([["Certified", `95% within ${certificate.p95_mm.toFixed(2)} mm against ${certificate.points} ${certificate.against}`]])
      : []),
  ];
}

/** @param {HTMLElement} list @param {[string, string][]} rows */
function table(list, rows) {
  refresh(list, rows, () => rows.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

at("recalibrate").addEventListener("click", async () => {
  at("recalibrate").setAttribute("aria-busy", "true");
  setText(at("message"), "Calibrating…");
  try {
    const receipt = await send("api/commands", { command: "recalibrate" });
    setText(at("message"), capitalize(receipt.text || "Calibration started."));
    await loadCalibration(`${Date.now()}`);
  } catch (error) {
    setText(at("message"), errorText(error));
  } finally {
    at("recalibrate").removeAttribute("aria-busy");
  }
});

offerPairingIfNeeded();
reloadOnUpgrade(feed);
followPicture(at("live"), feed)();
feed.start();
