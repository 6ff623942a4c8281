// How the rig is, and what to do about what is wrong.

import { el, refresh } from "/assets/dom.js";

/** Fill the section; what changes every second is kept apart from what is to be read. */
export function healthSection(section, health, source) {
  if (section.hidden) return;
  if (health === undefined) {
    refresh(section, null, () => el("p", { class: "soft" }, "Nothing heard of the camera yet."));
    return;
  }
  const figures = [
    [source?.text || health.camera || "no camera", ""],
    [health.fps === null ? "–" : `${health.fps.toFixed(0)}`, "frames/s"],
    [health.latency_ms === null ? "–" : `${health.latency_ms.toFixed(0)} ms`, "to publication"],
    [String(health.dropped), "frames lost"],
    [health.calibration_rms_px === null ? "–" : `${health.calibration_rms_px.toFixed(2)} px`, "calibration residual"],
    [health.recording.on ? clock(health.recording.seconds) : "off", "recording"],
    [health.store, "store"],
  ];
  refresh(section, [health.reasons, health.calls, figures], () => [
    ...health.reasons.map((reason) =>
      el("div", { class: `reason ${reason.level}` }, el("b", {}, reason.text), reason.remedy && el("p", {}, reason.remedy)),
    ),
    health.calls === "suspended" && el("p", { class: "suspended" }, "No calls are made from the camera. Declarations go on."),
    el("dl", {}, figures.map(([value, name]) => el("div", {}, el("dd", {}, value), el("dt", {}, name)))),
    el("a", { class: "button small", href: "/camera" }, "Camera page"),
  ]);
}

const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
