// The phones of the tournament: who may do what at which tables, and which table knows who was revoked.

import { el, elementsOf, find, refreshList, setText } from "./dom.js";
import { follow } from "./event_feed.js";
import { errorText, send } from "./send.js";

const GRANTS_MS = 2_000;
const ROLES = { viewer: "Viewer", producer: "Producer", operator: "Operator", referee: "Referee", admin: "Director" };

const at = elementsOf("desk");

follow("api/tables", (/** @type {Desk.TableStatus[]} */ tables) => {
  const select = at("grant-tables");
  const names = tables.map(({ name }) => name);
  if ([...select.options].map(({ value }) => value).join("\n") === names.join("\n")) return;
  const chosen = new Set([...select.selectedOptions].map(({ value }) => value));
  select.replaceChildren(...names.map((name) => el("option", { value: name, selected: chosen.has(name) }, name)));
}, () => {}, GRANTS_MS);

follow("api/grants", (/** @type {Desk.GrantsView} */ { grants, tables }) => {
  const inForce = grants.filter(({ revoked_by, expires_ms }) => revoked_by === "" && expires_ms > Date.now());
  refreshList(at("granted"), inForce, grantItem);
  const behind = tables.filter(({ status }) => status !== "applied").map(({ table, status, text }) => (status === "refused" ? `${table} (${text})` : table));
  setText(at("granted-state"), tables.length === 0 ? "" : behind.length ? `Not told yet: ${behind.join(", ")}.` : "Every table knows who may do what.");
}, () => {}, GRANTS_MS);

/** @param {Desk.GrantView} grant @param {HTMLElement} item */
function grantItem({ id, name, role, tables, expires_ms }, item) {
  item.className = "sent";
  const until = new Date(expires_ms).toLocaleDateString([], { month: "short", day: "numeric" });
  return [
    el("p", {}, el("b", {}, name), `: ${ROLES[role]}, ${tables.join(", ") || "all tables"}`, el("span", { class: "muted" }, ` · until ${until}`)),
    el(
      "div",
      { class: "row" },
      el("button", { class: "small quiet", type: "button", onclick: () => show(id, name) }, "Show its code"),
      el("button", { class: "small quiet", type: "button", onclick: () => revoke(id, name) }, "Revoke"),
    ),
  ];
}

/** @param {string} id @param {string} name */
function show(id, name) {
  at("grant-code").replaceChildren(
    el("img", { class: "qr", src: `api/grants/${id}/qr.svg`, alt: `QR code of the invitation of ${name}` }),
    el("p", {}, `Scan it with the phone of ${name} within ten minutes: it works once, for one phone.`),
  );
}

/** @param {string} id @param {string} name */
async function revoke(id, name) {
  if (!confirm(`Revoke ${name}? Tables that are away learn of it as soon as they are connected.`)) return;
  await send(`api/grants/${id}`, null, { method: "DELETE" }).catch((error) => setText(at("grant-message"), errorText(error)));
  at("grant-code").replaceChildren();
}

at("grants").addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = find(at("grants"), "button");
  button.setAttribute("aria-busy", "true");
  setText(at("grant-message"), "");
  const tables = [...at("grant-tables").selectedOptions].map(({ value }) => value);
  try {
    /** @type {Desk.GrantLink} */
    const { id, name } = await send("api/grants", { name: at("grant-name").value.trim(), role: at("grant-role").value, tables });
    at("grant-name").value = "";
    show(id, name);
  } catch (error) {
    setText(at("grant-message"), errorText(error));
  } finally {
    button.removeAttribute("aria-busy");
  }
});
