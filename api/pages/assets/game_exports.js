// What can be downloaded of a game: its report, its tables, its tracks, and for an operator its bundle.

import { el } from "./dom.js";

const TABLES = [
  ["report/plays.csv", "Play by play"],
  ["report/drives.csv", "Drive chart"],
  ["report/box.csv", "Box score"],
  ["report/figures.csv", "Figures"],
  ["report/calls.csv", "How the calls fared"],
  ["tracks.csv", "Tracks"],
];
const OPERATORS = ["operator", "admin"];

/**
 * The links, for whoever has this role; nothing of pictures and tracks where no camera was used.
 *
 * @param {string} base the game's path
 * @param {?string} role
 * @param {boolean} camera whether one saw the game
 */
export function exportLinks(base, role, camera) {
  const parts = camera ? [["", "Everything, with video, as one signed file"], ["?video=false", "The same without video"]] : [["", "Everything as one signed file"]];
  const bundle = OPERATORS.includes(role ?? "") ? parts.map(([query, text]) => link(`${base}/bundle.zip${query}`, text)) : [];
  const tables = TABLES.filter(([path]) => camera || path !== "tracks.csv");
  return [
    el("p", {}, el("a", { class: "button small", href: `${base}/report.html` }, "Report for print"), " ", camera && el("a", { class: "button small", href: `${base}/highlights.mp4` }, "Highlights as a film")),
    el("ul", {}, bundle),
    el("p", { class: "muted" }, "Tables for spreadsheets (CSV):"),
    el("ul", {}, tables.map(([path, text]) => link(`${base}/${path}`, text))),
  ];
}

/** @param {string} href @param {string} text */
function link(href, text) {
  return el("li", {}, el("a", { href }, text));
}
