// The tables that this phone's grant names: a tap redeems it there, once, and opens the panel.

import { el, elementsOf, refresh, refreshList, setText } from "./dom.js";
import { follow, LINK_TEXTS } from "./event_feed.js";
import { readGrant } from "./grant.js";

const TABLES_MS = 2_000;
/** @type {Record<string, string>} */
const ROLES = { viewer: "watches", operator: "operates", referee: "referees", admin: "directs" };

const at = elementsOf("mine");
const text = localStorage.getItem("downfield-grant") ?? "";
/** @typedef {NonNullable<ReturnType<typeof readGrant>>} Grant */

const grant = readGrant(text);

/** Kept, so that the links are there when the page is opened again while the desk does not answer. */
const KEPT = "downfield-tables";

/** @param {Grant} grant @param {Desk.TableStatus[]} tables */
function show(grant, tables) {
  const names = grant.tables.map((name) => name.trim().toLowerCase());
  const own = tables.filter(({ name, address }) => address && (names.length === 0 || names.includes(name.trim().toLowerCase())));
  refreshList(at("tables"), own, tableItem);
  const missing = grant.tables.filter((name) => own.every((table) => table.name.trim().toLowerCase() !== name.trim().toLowerCase()));
  setText(at("who"), `${grant.name} ${ROLES[grant.role]} at ${grant.tables.join(", ") || "all tables"}.${missing.length ? ` Not heard of yet: ${missing.join(", ")}.` : ""}`);
}

/** @param {Desk.TableStatus} table @param {HTMLElement} item */
function tableItem({ name, address, home, away, score, situation }, item) {
  item.className = "plate table";
  const base = address.replace(/\/?$/, "/");
  return [
    el("h3", {}, name),
    el("p", {}, home ? `${away} ${score[1]} – ${score[0]} ${home}` : "No game yet"),
    el("p", { class: "muted" }, situation),
    el("a", { class: "button main", href: `${base}pair#${text}` }, `Open ${name}`),
  ];
}

if (grant === null) {
  setText(at("who"), "This phone has no grant. The director shows one under “Phones of the tournament” on the desk.");
} else {
  at("grant-plate").hidden = false;
  at("grant").value = text;
  at("grant").addEventListener("focus", () => at("grant").select());
  show(grant, JSON.parse(localStorage.getItem(KEPT) ?? "[]"));
  follow(
    "api/tables",
    (tables) => {
      localStorage.setItem(KEPT, JSON.stringify(tables));
      show(grant, tables);
    },
    (link) => refresh(at("state"), link, () => [el("span", { class: `dot ${link === "live" ? "ok" : "alarm"}` }), el("span", {}, ` ${LINK_TEXTS[link]}`)]),
    TABLES_MS,
  );
}
