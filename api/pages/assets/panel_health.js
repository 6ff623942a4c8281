// Health of the camera and the rig, with a remedy for each problem.

import { el, refresh } from "./dom.js";
import { formatCallText } from "./format.js";
import { requestButton } from "./panel_fields.js";

/**
 * Fill the section.
 *
 * @param {HTMLElement} section
 * @param {Service.HealthStatus | undefined} health
 * @param {Service.SourceStatus | undefined} source
 */
export function healthSection(section, health, source) {
  if (section.hidden) return;
  if (health === undefined) {
    refresh(section, null, () => el("p", { class: "muted" }, "No camera status yet."));
    return;
  }
  const figures = [
    [(source?.live && health.camera) || source?.text || health.camera || "no camera", ""], // another phone may have taken its place
    [health.fps === null ? "–" : `${health.fps.toFixed(0)} fps`, "frame rate"],
    [health.latency_ms === null ? "–" : `${health.latency_ms.toFixed(0)} ms`, "latency"],
    [String(health.dropped), "dropped frames"],
    [health.calibration_rms_px === null ? "–" : `${health.calibration_rms_px.toFixed(2)} px`, "calibration residual"],
    [health.recording.on ? duration(health.recording.seconds) : "off", "recording"],
    [health.store, "game record"],
  ];
  refresh(section, [health.reasons, health.calls, health.unfit, figures], () => [
    ...health.reasons.map((reason) =>
      el("div", { class: `reason ${reason.level}` }, el("b", {}, formatCallText(reason.text)), reason.remedy && el("p", {}, formatCallText(reason.remedy))),
    ),
    source?.kind === "none" && el("p", { class: "muted" }, "Say under “How the play ended” how each play ended."),
    isByHand(health) && el("p", { class: "by-hand" }, "Under “How the play ended” say how each play ended, until the camera is used again."),
    action(health),
    health.calls === "suspended" && el("p", { class: "suspended" }, "The camera makes no calls now. You can still declare and make calls by hand."),
    health.unfit.length > 0 && el("p", { class: "muted" }, "Frames of the last 10 s without calls"),
    health.unfit.length > 0 && el("ul", { class: "unfit" }, health.unfit.map((frames) => el("li", {}, unfitText(frames)))),
    el("dl", {}, figures.map(([value, name]) => el("div", {}, el("dd", {}, value), el("dt", {}, name)))),
    el("a", { class: "button small", href: "camera" }, "Camera page"),
  ]);
}

/** @param {Service.UnfitFrames} frames */
const unfitText = ({ reason, first, last, count }) =>
  `${count} (${first === last ? `number ${first}` : `numbers ${first} to ${last}`}): ${reason}`;

let dismissed = "";

/**
 * One line that says what is wrong while something is; closed, it stays away until something else is.
 *
 * @param {HTMLElement} section
 * @param {Service.HealthStatus | undefined} health
 */
export function healthAlert(section, health) {
  const [first] = health?.reasons ?? [];
  const others = (health?.reasons.length ?? 0) - 1;
  const text = formatCallText(first?.text || health?.text || "");
  const more = others > 0 ? ` (and ${others} more)` : "";
  const key = health === undefined ? "" : `${health.level} ${text} ${action(health)?.textContent ?? ""}`;
  if (key === "") dismissed = "";
  section.hidden = key === "" || key === dismissed;
  section.className = first?.level ?? health?.level ?? "";
  const close = () => {
    dismissed = key;
    section.hidden = true;
  };
  refresh(section, [key, more], () => [
    el("button", { class: "text", type: "button", "data-more": "" }, `${text}${more}`),
    health !== undefined && action(health),
    el("button", { class: "small", type: "button", "aria-label": "Close", onclick: close }, "×"),
  ]);
}

/** @param {Service.HealthStatus | undefined} health @param {string} code */
const has = (health, code) => health?.reasons.some((reason) => reason.code === code) ?? false;

/**
 * Whether the game is kept by hand: the camera is lost, or its calls are suspended.
 *
 * @param {Service.HealthStatus | undefined} health
 */
export const isByHand = (health) => has(health, "camera_lost") || has(health, "calls_suspended");

/**
 * The button that goes on by hand while the camera is gone, the one that returns to it once it is back, or the one that takes figures
 * into the line-up that are not in it.
 *
 * @param {Service.HealthStatus} health
 */
function action(health) {
  /** @param {string} label @param {boolean} on */
  const suspend = (label, on) => requestButton(label, "api/commands", { command: "suspend", on }, on ? "" : "go");
  if (has(health, "calls_suspended")) return has(health, "camera_lost") ? null : suspend("Use the camera again", false);
  if (has(health, "camera_lost")) return suspend("Go on by hand", true);
  return has(health, "more_figures") ? requestButton("Find all figures again", "api/commands", { command: "find_figures" }) : null;
}

/** @param {number} seconds */
const duration = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")} min`;
