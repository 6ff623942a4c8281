// Health of the camera and the rig, with a remedy for each problem.

import { el, refresh } from "./dom.js";

/** Fill the section. */
export function healthSection(section, health, source) {
  if (section.hidden) return;
  if (health === undefined) {
    refresh(section, null, () => el("p", { class: "muted" }, "No camera status yet."));
    return;
  }
  const figures = [
    [source?.text || health.camera || "no camera", ""],
    [health.fps === null ? "–" : `${health.fps.toFixed(0)} fps`, "frame rate"],
    [health.latency_ms === null ? "–" : `${health.latency_ms.toFixed(0)} ms`, "latency"],
    [String(health.dropped), "dropped frames"],
    [health.calibration_rms_px === null ? "–" : `${health.calibration_rms_px.toFixed(2)} px`, "calibration residual"],
    [health.recording.on ? duration(health.recording.seconds) : "off", "recording"],
    [health.store, "game record"],
  ];
  refresh(section, [health.reasons, health.calls, figures], () => [
    ...health.reasons.map((reason) =>
      el("div", { class: `reason ${reason.level}` }, el("b", {}, reason.text), reason.remedy && el("p", {}, reason.remedy)),
    ),
    health.calls === "suspended" && el("p", { class: "suspended" }, "The camera makes no calls now. You can still declare and make calls by hand."),
    el("dl", {}, figures.map(([value, name]) => el("div", {}, el("dd", {}, value), el("dt", {}, name)))),
    el("a", { class: "button small", href: "camera" }, "Camera page"),
  ]);
}

const duration = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")} min`;
