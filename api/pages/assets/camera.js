// The camera page: the live picture with the calibrated field over it, and whether both can be trusted.

import { el, refresh, say } from "/assets/dom.js";
import { Feed, reloadOnUpgrade } from "/assets/feed.js";
import { capital, plain } from "/assets/words.js";
import { Refusal, send } from "/assets/send.js";

/** A picture that does not change for this long is asked for anew: its connection may have died unnoticed. */
const RETRY_MS = 3_000;

const at = (id) => document.getElementById(id);
const feed = new Feed(["health", "source", "game"]);
let calibrated = null;

function watch() {
  at("live").src = `/camera.mjpeg?from=${Date.now()}`; // another address, or the browser shows the broken one again
}

at("live").addEventListener("load", () => (at("gone").hidden = true));
at("live").addEventListener("error", () => {
  at("gone").hidden = false;
  say(at("gone"), feed.link === "live" ? "No picture: this device may not look, or the camera gives none" : "The rig does not answer");
  setTimeout(watch, RETRY_MS);
});

at("lines").addEventListener("change", showLines);

function showLines() {
  at("field").hidden = calibrated === null || !at("lines").checked;
}

feed.on("health", (health) => {
  if (health === undefined) return;
  const rows = [
    ["Calls from the camera", health.calls === "on" ? "made" : "suspended"],
    ["Pictures", health.size === null ? "none" : `${health.size.join(" × ")}`],
    ["Taken a second", health.fps === null ? "–" : health.fps.toFixed(1)],
    ["Capture to publication", latency(health)],
    ["Frames lost", `${health.dropped} of ${health.frames}`],
    ["Board", health.board],
    ["Recording", health.recording.on ? `on, ${Math.round(health.recording.seconds)} s` : "off"],
    ["Disk left", health.recording.free_gb === null ? "–" : `${health.recording.free_gb.toFixed(0)} GB`],
  ];
  table(at("health"), rows);
  at("reasons").hidden = health.reasons.length === 0;
  refresh(at("reasons"), health.reasons, () =>
    health.reasons.map((one) => el("div", { class: `reason ${one.level}` }, el("b", {}, one.text), one.remedy && el("p", {}, one.remedy))),
  );
  tellState();
  const now = JSON.stringify([health.calibration_rms_px, health.calibration_rms_yd]);
  if (now !== calibrated?.known) loadCalibration(now);
});
feed.on("source", (source) => say(at("source"), source?.text ?? ""));
feed.onLink((link) => {
  document.documentElement.dataset.link = link;
  tellState();
  if (link === "live") watch();
});

function tellState() {
  const health = feed.value("health");
  const words = { connecting: "Connecting", lost: "Reconnecting", stale: "No connection" };
  const level = feed.link === "live" ? (health?.level ?? "") : "warning";
  const text = words[feed.link] ?? (health?.text || capital(plain(health?.level ?? "live")));
  refresh(at("state"), [level, text], () => [el("span", { class: `dot ${level}` }), el("span", {}, text)]);
}

const latency = ({ latency_ms, latency_p99_ms }) => {
  if (latency_ms === null) return "–";
  return `${latency_ms.toFixed(0)} ms${latency_p99_ms === null ? "" : `, slowest ${latency_p99_ms.toFixed(0)} ms`}`;
};

async function loadCalibration(known) {
  calibrated = { known };
  const answer = await fetch("/api/calibration", { credentials: "same-origin" }).catch(() => null);
  const found = answer?.ok ? await answer.json() : null;
  for (const [id, path] of [["field", "field.svg"], ["residuals", "residuals.svg"]]) {
    at(id).src = found === null ? "" : `/api/calibration/${path}?of=${encodeURIComponent(known)}`;
  }
  at("residuals").hidden = !found?.quality?.cells.length;
  if (found === null) calibrated = null;
  showLines();
  table(at("calibration"), found === null ? [["Calibration", "none: press Recalibrate"]] : figures(found));
}

function figures({ field, method, made_at, quality, certificate, camera }) {
  const yards = (pair) => pair.map((one) => one.toFixed(4)).join(" and ");
  return [
    ["Field", field.title],
    ["Made", `${{ field: "from the printed field", fiducials: "from markers", landmarks: "by hand", truth: "by the twin, exact" }[method]}${made_at ? `, ${made_at.slice(0, 16).replace("T", " ")}` : ""}`],
    ["Lens", `${camera.lens.size_px.join(" × ")}, focal length ${camera.lens.focal_px[0].toFixed(0)} px`],
    ...(quality
      ? [
          ["Residual", `${quality.rms_px.toFixed(3)} px = ${quality.rms_mm.toFixed(3)} mm over ${quality.points} places`],
          ["Residual in yards", `${yards(quality.rms_yd)} along and across`],
        ]
      : []),
    ...(certificate
      ? [["Certified", `95 % within ${certificate.p95_mm.toFixed(2)} mm against ${certificate.points} ${certificate.against}`]]
      : []),
  ];
}

function table(list, rows) {
  refresh(list, rows, () => rows.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

at("recalibrate").addEventListener("click", async () => {
  at("recalibrate").setAttribute("aria-busy", "true");
  say(at("told"), "Looking at the field…");
  try {
    const receipt = await send("/api/commands", { command: "recalibrate" });
    say(at("told"), capital(receipt.text || "begun"));
    await loadCalibration(`${Date.now()}`);
  } catch (error) {
    say(at("told"), error instanceof Refusal ? capital(error.message) : "The rig does not answer: try again.");
  } finally {
    at("recalibrate").removeAttribute("aria-busy");
  }
});

reloadOnUpgrade(feed);
feed.start();
