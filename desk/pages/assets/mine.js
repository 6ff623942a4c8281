// The tables of this phone: a tap opens one by the phone's pass and a proof made at that moment.

import { el, elementsOf, refresh, refreshList, setText } from "./dom.js";
import { follow, LINK_TEXTS } from "./event_feed.js";
import { withProof } from "./grant.js";
import { errorText } from "./send.js";

const PASSES_MS = 5_000;
/** @type {Record<string, string>} */
const ROLES = { viewer: "watches", producer: "produces", operator: "operates", referee: "referees", admin: "directs" };

const at = elementsOf("mine");

/** Kept, so that tables can be opened when this page is open, or is loaded again, while the desk does not answer. */
const KEPT = "downfield-passes";

/** @param {Desk.MyGrantView} grant */
function show({ name, role, tables, passes }) {
  refreshList(at("tables"), passes.map((one) => ({ ...one, id: one.rig })), tableItem);
  const missing = tables.filter((wanted) => passes.every(({ table }) => table.trim().toLowerCase() !== wanted.trim().toLowerCase()));
  setText(at("who"), `${name} ${ROLES[role]} at ${tables.join(", ") || "all tables"}.${missing.length ? ` Not heard of yet: ${missing.join(", ")}.` : ""}`);
}

/** @param {Desk.PassView & { id: string }} pass @param {HTMLElement} item */
function tableItem({ table, rig, address, given }, item) {
  item.className = "plate table";
  const base = address.replace(/\/?$/, "/");
  const open = async () => location.assign(`${base}pair#${await withProof(given, rig)}`);
  const code = el("input", { readonly: true, hidden: true, "aria-label": `Code for ${table}`, onfocus: (event) => event.currentTarget.select() });
  const showCode = async () => {
    code.value = await withProof(given, rig);
    code.hidden = false;
    code.focus();
  };
  /** @param {() => Promise<void>} work */
  const trying = (work) => () => work().catch((error) => setText(at("who"), errorText(error)));
  return [
    el("h3", {}, table),
    el("div", { class: "row" }, el("button", { class: "main", type: "button", onclick: trying(open) }, `Open ${table}`), el("button", { class: "small quiet", type: "button", onclick: trying(showCode) }, "Show its code")),
    code,
  ];
}

const kept = localStorage.getItem(KEPT);
if (kept !== null) show(JSON.parse(kept));
else setText(at("who"), "This phone has no invitation yet. The director shows one under “Phones of the tournament” on the desk.");
follow(
  "api/grants/mine",
  (grant) => {
    localStorage.setItem(KEPT, JSON.stringify(grant));
    show(grant);
  },
  (link) => refresh(at("state"), link, () => [el("span", { class: `dot ${link === "live" ? "ok" : "alarm"}` }), el("span", {}, ` ${LINK_TEXTS[link]}`)]),
  PASSES_MS,
);
