// Cards, messages and lower thirds: made in a form, shown, or kept in a queue for later.

import { el, refresh, refreshKeepingFocus, setText } from "./dom.js";
import { formatPlayer } from "./format.js";
import { field, optionalNumber, optionalValue, select, showOnlyIf, teams } from "./panel_fields.js";
import { logoField } from "./panel_logo.js";
import { CARD_WORDS } from "./producer_words.js";
import { send } from "./send.js";

/** @typedef {import("./producer.js").Desk} Desk */

/** @type {import("./panel_fields.js").SelectOption[]} */
const STAYS = [["8", "8 seconds"], ["15", "15 seconds"], ["30", "30 seconds"], ["0", "until taken off"]];

/** What has a title of its own. @type {Service.GraphicRequest["kind"][]} */
const TITLED = ["message", "lower_third", "starting_soon", "halftime", "final"];

/** @param {Desk} desk @returns {HTMLElement[]} */
export function cardSection({ feed, air, act }) {
  const kind = Object.assign(select(CARD_WORDS), { name: "card" });
  const player = el("select");
  const side = el("select");
  const title = el("input", { maxlength: 80 });
  const subtitle = el("input", { maxlength: 160 });
  const people = el("datalist", { id: "people" });
  const titleField = field("Text", title, "wide");
  const logo = logoField("Picture or logo", null);
  const minutes = optionalNumber("countdown", 1, 1_440);
  const seconds = select(STAYS);
  title.setAttribute("list", "people");
  const show = el("button", { type: "submit", class: "main" });
  air.follow(() => setText(show, air.atOnce ? "Show" : "Preview"));
  const queue = el("button", { type: "button" }, "Add to the queue");
  const off = el("button", { type: "button", class: "small stop" }, "Card off");
  const form = el(
    "form",
    { class: "grid" },
    field("Card", kind, "wide"),
    field("Player", player, "wide"),
    field("Team", side, "wide"),
    titleField,
    field("Second line", subtitle, "wide"),
    logo.element,
    field("Countdown, minutes", minutes, "wide"),
    field("For", seconds, "wide"),
    show,
    queue,
    people,
  );
  /** @param {HTMLElement} input @param {(kind: Service.GraphicRequest["kind"]) => boolean} isShown */
  const only = (input, isShown) => showOnlyIf(form, [input.closest("label") ?? input], () => isShown(/** @type {Service.GraphicRequest["kind"]} */ (kind.value)));
  only(player, (wanted) => wanted === "player" || wanted === "lower_third");
  only(side, (wanted) => wanted === "line_up");
  for (const input of [title, subtitle, logo.element]) only(input, (wanted) => TITLED.includes(wanted));
  only(minutes, (wanted) => wanted === "starting_soon" || wanted === "halftime");

  /** @returns {Service.GraphicRequest} */
  const wanted = () => {
    const minute = minutes.disabled ? null : optionalValue(minutes);
    return {
      kind: /** @type {Service.GraphicRequest["kind"]} */ (kind.value),
      player: player.disabled ? "" : player.value,
      side: /** @type {Side} */ (side.value || "home"),
      title: title.disabled ? "" : title.value.trim(),
      subtitle: subtitle.disabled ? "" : subtitle.value.trim(),
      logo: title.disabled ? null : logo.input.value,
      countdown_s: minute === null ? null : 60 * minute,
      seconds: Number(seconds.value),
    };
  };
  kind.addEventListener("input", () => {
    const stays = ["starting_soon", "halftime", "final"].includes(kind.value);
    seconds.value = stays ? "0" : seconds.value === "0" ? "8" : seconds.value;
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    act(show, () => air.show(wanted()));
  });
  queue.addEventListener("click", () => form.reportValidity() && act(queue, () => send("api/on-air", { prepared: [...air.now.prepared, wanted()] })));
  off.addEventListener("click", () => act(off, () => send("api/graphic", null, { method: "DELETE" })));

  feed.on("line_up", (lineUp) =>
    refresh(player, lineUp?.players.map(({ id }) => id), () => [el("option", { value: "" }, "nobody of the line-up"), ...(lineUp?.players ?? []).map(({ id }) => el("option", { value: id }, formatPlayer(id)))]),
  );
  feed.on("game", (game) => refresh(side, teams(game), () => teams(game).map(([value, name]) => el("option", { value }, name))));
  feed.on("on_air", (now) => refresh(people, now?.people, () => now?.people.map(({ name }) => el("option", { value: name }))));
  const onAir = el("p", { class: "muted" });
  feed.on("graphic", (card) => refresh(onAir, card, () => el("span", {}, card === undefined || card.kind === "none" ? "No card is on air." : `Last on air: ${describe(card)}.`)));
  return [form, el("div", { class: "row" }, off, onAir)];
}

/** @param {Desk} desk @returns {HTMLElement[]} */
export function queueSection({ air, act }) {
  const next = el("button", { type: "button", class: "main" });
  air.follow(() => setText(next, air.atOnce ? "Show the next" : "Preview the next"));
  const list = el("ol", { class: "list" });
  /** @param {HTMLButtonElement} button @param {number} place */
  const show = (button, place) =>
    act(button, () => air.show(air.now.prepared[place], true));
  /** @param {Service.GraphicRequest[]} prepared */
  const keep = (prepared) => send("api/on-air", { prepared });
  next.addEventListener("click", () => show(next, 0));
  air.follow(() => {
    const { prepared } = air.now;
    next.disabled = prepared.length === 0;
    refreshKeepingFocus(list, [prepared, air.atOnce], () => prepared.map((card, place) => item(card, place)));
  });

  /** @param {Service.GraphicRequest} card @param {number} place */
  function item(card, place) {
    const words = describe(card);
    /** @param {string} label @param {string} about @param {(button: HTMLButtonElement) => unknown} press */
    const button = (label, about, press) => el("button", { type: "button", class: "small", "aria-label": `${about}: ${words}`, onclick: ({ currentTarget }) => press(currentTarget) }, label);
    return el(
      "li",
      {},
      el("span", { dir: "auto" }, words),
      el(
        "span",
        { class: "row" },
        button(air.atOnce ? "Show" : "Preview", air.atOnce ? "Show" : "Preview", (pressed) => show(pressed, place)),
        place > 0 && button("↑", "Move up", (pressed) => act(pressed, () => keep(air.now.prepared.toSpliced(place, 1).toSpliced(place - 1, 0, card)))),
        button("✕", "Remove", (pressed) => act(pressed, () => keep(air.now.prepared.toSpliced(place, 1)))),
      ),
    );
  }
  return [next, list];
}

/** @param {{ kind: string, title: string, player?: string, side?: ?string }} card */
function describe({ kind, title, player = "", side = null }) {
  const words = CARD_WORDS.find(([name]) => name === kind)?.[1] ?? kind;
  const about = title || (player && formatPlayer(player)) || (kind === "line_up" && side) || "";
  return about ? `${words}: ${about}` : words;
}
