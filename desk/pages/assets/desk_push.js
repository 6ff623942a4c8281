// What the desk sends to tables, and which table has it.

import { el, elementsOf, find, findAll, refreshList, setText } from "./dom.js";
import { follow } from "./event_feed.js";
import { errorText, RefusedError, send } from "./send.js";

const PUSHES_MS = 1_000;
const KINDS = { announcement: "Announcement", rulebook: "Rulebook", teams: "Teams", schedule: "Schedule", calibration: "Calibration", access: "Access", game: "Next game" };
const STATUSES = { waiting: "waits", applied: "done", refused: "refused", replaced: "not needed" };

const at = elementsOf("desk");

function showKind() {
  for (const label of findAll(at("send"), "[data-kind]")) label.hidden = !label.dataset.kind?.split(" ").includes(at("send-kind").value);
  offerReceivers();
}

/** @param {string} value @param {string} text @returns {[value: string, text: string]} */
const pair = (value, text) => [value, text];

/**
 * Offer choices in a select, and keep the one that is chosen.
 *
 * @param {HTMLSelectElement} select
 * @param {[value: string, text: string][]} choices
 */
function offer(select, choices) {
  const known = [...select.options].map((option) => `${option.value} ${option.text}`).join("\n");
  if (known === choices.map(([value, text]) => `${value} ${text}`).join("\n")) return;
  const chosen = select.value;
  select.replaceChildren(...choices.map(([value, text]) => el("option", { value }, text)));
  if (choices.some(([value]) => value === chosen)) select.value = chosen;
}

/** @type {[value: string, text: string][]} */
let teams = [];
/** @type {[value: string, text: string][]} */
let tables = [];
/** An announcement goes to a team as well; everything else goes to tables. */
const offerReceivers = () => offer(at("send-table"), [["", "All tables"], ...tables, ...(at("send-kind").value === "text" ? teams : [])]);

follow(
  "api/tables",
  (/** @type {Desk.TableStatus[]} */ known) => {
    tables = known.map(({ name }) => pair(name, name));
    offerReceivers();
  },
  () => {},
  PUSHES_MS,
);
follow("api/event", (/** @type {Desk.EventView} */ event) => {
  const ready = event.matches.filter((match) => match.state === "ready" && match.table);
  teams = event.entrants.filter(({ withdrawn }) => !withdrawn).map(({ id, team, coach }) => pair(`team:${id}`, `Team ${team || coach}`));
  offerReceivers();
  offer(at("send-match"), ready.map((match) => pair(match.id, `${match.table}, ${match.id}: ${match.home.name} – ${match.away.name}`)));
});
follow(
  "api/pushes",
  (/** @type {Desk.PushView[]} */ pushes) => {
    at("sent-plate").hidden = pushes.length === 0;
    refreshList(at("sent"), pushes, sentItem);
  },
  () => {},
  PUSHES_MS,
);

/** @param {Desk.PushView} push @param {HTMLElement} item */
function sentItem(push, item) {
  item.className = "sent";
  const time = new Date(push.at_ms).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  return [
    el("p", {}, el("b", {}, `${KINDS[push.kind]}: `), push.title, el("span", { class: "muted" }, ` · ${push.by}, ${time}`)),
    el("ul", {}, ...push.tables.map((table) => el("li", { class: table.status }, el("b", {}, `${table.table}: ${STATUSES[table.status]}`), table.status === "applied" ? "" : `, ${table.text}`))),
    el("button", { class: "small quiet", type: "button", onclick: () => withdraw(push) }, "Send no longer"),
  ];
}

/** @param {Desk.PushView} push */
async function withdraw(push) {
  await send(`api/pushes/${push.id}`, null, { method: "DELETE" }).catch((error) => setText(at("send-message"), errorText(error)));
}

async function content() {
  const kind = at("send-kind").value;
  const to = at("send-table").value;
  const tables = to && !to.startsWith("team:") ? [to] : [];
  if (kind === "match") return { match: at("send-match").value };
  if (kind === "text") return { text: at("send-text").value.trim(), tables, team: to.startsWith("team:") ? to.slice(5) : "" };
  if (kind === "teams" || kind === "schedule") return { event: kind, tables };
  if (kind !== "rulebook" && kind !== "calibration") throw new Error(`There is nothing to send of the kind ${kind}`);
  const [file] = at(`send-${kind}`).files ?? [];
  if (file === undefined) throw new RefusedError({ detail: `Choose the ${kind}'s file.` });
  return { [kind]: await file.text(), tables };
}

const CALLS = { sent: "sent", playing: "plays", late: "late", next: "next", free: "free" };

at("call-round").addEventListener("click", async () => {
  setText(at("round-message"), "");
  try {
    /** @type {Desk.RoundCall[]} */
    const calls = await send("api/pushes/round", null);
    at("round").replaceChildren(...calls.map(({ table, match, state, text }) => el("li", { class: state }, el("b", {}, `${table}: ${CALLS[state]}`), `${match ? ` ${match}` : ""}, ${text}`)));
    if (calls.length === 0) setText(at("round-message"), "The event has no tables yet. Name them under Set-up on the page Event.");
  } catch (error) {
    setText(at("round-message"), errorText(error));
  }
});

at("send-kind").addEventListener("change", showKind);
at("send").addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = find(at("send"), "button");
  button.setAttribute("aria-busy", "true");
  setText(at("send-message"), "");
  try {
    await send("api/pushes", await content());
    at("send-text").value = "";
    setText(at("send-message"), "Sent.");
  } catch (error) {
    setText(at("send-message"), errorText(error));
  } finally {
    button.removeAttribute("aria-busy");
  }
});
showKind();
