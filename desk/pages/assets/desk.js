// The desk: every table at a glance, those that need attention first.

import { around, el, elementsOf, find, refresh, refreshList, setText } from "./dom.js";
import { follow, LINK_TEXTS } from "./event_feed.js";
import { errorText, send } from "./send.js";

const TABLES_MS = 1_000;

const NEEDS = {
  refused: "Pair again",
  lost: "Lost",
  alarm: "Alarm",
  waiting: "Waits for you",
  warning: "Warning",
  playing: "Playing",
  idle: "Idle",
};

const at = elementsOf("desk");

follow(
  "api/tables",
  (/** @type {Desk.TableStatus[]} */ tables) => {
    at("no-tables").hidden = tables.length > 0;
    refreshList(at("tables"), tables, tableItem);
  },
  (link) => refresh(at("state"), link, () => [el("span", { class: `dot ${link === "live" ? "ok" : "alarm"}` }), el("span", {}, ` ${LINK_TEXTS[link]}`)]),
  TABLES_MS,
);
follow("api/event", (event) => setText(at("event-name"), event.name));

/** @param {Desk.TableStatus} table @param {HTMLElement} item */
function tableItem(table, item) {
  item.className = `plate table ${table.need}`;
  const game = table.home
    ? el(
        "p",
        { class: "score" },
        el("span", {}, table.away),
        el("b", {}, `${table.score[1]} – ${table.score[0]}`),
        el("span", {}, table.home),
      )
    : el("p", { class: "muted" }, "No game yet");
  const facts = [table.situation, table.phase, table.clock, table.under_review ? "under review" : ""].filter(Boolean).join(" · ");
  const base = table.address && table.address.replace(/\/?$/, "/");
  /** @param {string} path @param {string} text */
  const link = (path, text) => base && el("a", { class: "button small", href: `${base}${path}`, target: "_blank", rel: "noopener" }, text);
  return [
    el("div", { class: "top" }, el("h3", {}, table.name), el("span", { class: "need" }, NEEDS[table.need])),
    table.text ? el("p", { class: "why" }, table.text) : null,
    game,
    el("p", { class: "muted" }, facts),
    el(
      "div",
      { class: "row" },
      link("", "Open"),
      link("panel", "Panel"),
      link("camera", "Camera"),
      el("button", { class: "small quiet", type: "button", onclick: () => forget(table) }, "Stop watching"),
    ),
  ];
}

/** @param {Desk.TableStatus} table */
async function forget(table) {
  if (!confirm(`Stop watching ${table.name}? Its game is not touched.`)) return;
  await send(`api/tables/${table.id}`, null, { method: "DELETE" }).catch((error) => alert(errorText(error)));
}

at("add").addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = find(at("add"), "button");
  button.setAttribute("aria-busy", "true");
  setText(at("add-message"), "");
  try {
    await send("api/tables", { name: at("table-name").value.trim(), address: at("table-address").value.trim(), code: at("table-code").value.trim() });
    at("add").reset();
  } catch (error) {
    setText(at("add-message"), errorText(error));
  } finally {
    button.removeAttribute("aria-busy");
  }
});

at("pairing").addEventListener("click", async (event) => {
  const role = around(event, "[data-role]")?.dataset.role;
  if (role === undefined) return;
  try {
    /** @type {Desk.PairingDetails} */
    const pairing = await send("api/pairings", { role });
    at("code").replaceChildren(
      el("img", { class: "qr", src: `api/pairings/${pairing.id}/qr.svg`, alt: `QR code of ${pairing.url}` }),
      el("p", {}, el("b", { class: "code" }, pairing.code), el("br"), `Scan it, or enter this code at ${pairing.url.split("#")[0]} within ${Math.round(pairing.expires_s / 60)} minutes.`),
    );
  } catch (error) {
    at("code").replaceChildren(el("p", {}, errorText(error)));
  }
});

/** @type {Desk.GuestLinkView} */
const guests = await send("api/event/guests", null, { method: "GET" }).catch(() => ({ url: "", code: "" }));
at("guest-link").replaceChildren(el("a", { href: guests.url }, guests.url));
