// What the operator puts on the stream: the replay of the last call, and the cards.

import { el } from "./dom.js";
import { bindForm, field, requestButton, select, sideSelect, showOnlyIf, submitButton } from "./panel_fields.js";
import { formatPlayer } from "./format.js";
import { logoField } from "./panel_logo.js";

/** @type {import("./panel_fields.js").SelectOption[]} */
const CARDS = [
  ["drive", "Drive summary"], ["player", "Player with statistics"], ["line_up", "Starting line-up"], ["teams", "Both teams"],
  ["standings", "Standings"],
  ["review", "Under review, with the picture"], ["message", "Message or sponsor"],
];

/** @param {Feed} feed */
export function streamForms(feed) {
  const kind = select(CARDS);
  const players = feed.value("line_up")?.players ?? [];
  const player = select(players.map(({ id }) => [id, formatPlayer(id)]), feed.value("ball")?.player ?? null);
  const side = sideSelect(feed);
  const title = el("input", { required: true, maxlength: 80, placeholder: "such as the sponsor's name" });
  const subtitle = el("input", { maxlength: 160 });
  const logo = logoField("Logo", null);
  const seconds = select([["8", "8 seconds"], ["15", "15 seconds"], ["0", "until taken off"]]);
  const only = { player: [field("Player", player, "wide")], line_up: [field("Team", side, "wide")], message: [field("Message", title, "wide"), field("Second line", subtitle, "wide"), logo.element] };
  const show = submitButton("Show the card");
  delete show.dataset.closes; // the next card is shown from here as well
  const form = el("form", { class: "grid" }, field("Card", kind, "wide"), Object.values(only), field("For", seconds, "wide"), show);
  for (const [name, labels] of Object.entries(only)) showOnlyIf(form, labels, () => kind.value === name);
  bindForm(form, show, () => ({
    post: "api/graphic",
    body: {
      kind: kind.value,
      seconds: Number(seconds.value),
      ...(kind.value === "player" ? { player: player.value } : {}),
      ...(kind.value === "line_up" ? { side: side.value } : {}),
      ...(kind.value === "message" ? { title: title.value, subtitle: subtitle.value, logo: logo.input.value } : {}),
    },
  }));
  /** @param {string} label @param {Service.ChangePath} path */
  const off = (label, path) => {
    const button = requestButton(label, path, {});
    button.dataset.method = "DELETE";
    return button;
  };
  return [
    el("div", { class: "row" }, requestButton("Replay the last call", "api/replay", { call: null }, "main"), off("Replay off", "api/replay"), off("Card off", "api/graphic")),
    form,
  ];
}
