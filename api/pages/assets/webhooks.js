// What the webhooks were sent, what waits, and "send again" with one tap.

import { el, elementsOf, refreshList, setText } from "./dom.js";
import { capitalize, counted, humanize } from "./format.js";
import { errorText, read, send } from "./send.js";

/** @typedef {Service.WebhookView["log"][number]} Delivery */

const REFRESH_MS = 2_000;
const SHOWN = 50;

const at = elementsOf("webhooks");
/** @type {Map<string, HTMLElement>} the list of each webhook's deliveries, by its place */
const lists = new Map();

async function load() {
  try {
    /** @type {Service.WebhookView[]} */
    const webhooks = await read("api/webhooks", (text) => setText(at("message"), text));
    setText(at("message"), webhooks.length > 0 ? "" : "No webhook is set. Name one as webhook.url in the configuration.");
    webhooks.forEach(({ to, waiting, log }, place) => {
      const id = `${place} ${to}`;
      let list = lists.get(id);
      if (list === undefined) {
        list = el("ol", { "aria-label": `Deliveries to ${to}, those that wait first` });
        lists.set(id, list);
        at("webhooks").append(el("section", { class: "plate" }, el("h2", {}, to), list));
      }
      refreshList(list, [...waiting, ...log].slice(0, SHOWN), deliveryItem);
    });
  } catch (error) {
    setText(at("message"), errorText(error));
  }
  setTimeout(load, REFRESH_MS);
}

/** @param {Delivery} delivery */
function deliveryItem({ id, event, at_ms, status, attempts, took_ms, answer }) {
  const tried = attempts > 0 && `${counted(attempts, "attempt")}, the last took ${(took_ms / 1000).toFixed(1)} s`;
  const facts = [new Date(at_ms).toLocaleTimeString(), tried, answer];
  const label = status === "waiting" ? "Send now" : "Send again";
  return [
    el("b", {}, capitalize(humanize(event))),
    " ",
    el("span", { class: status === "delivered" ? "badge" : "badge alert" }, humanize(status)),
    el("p", { class: "muted" }, facts.filter(Boolean).join(", ")),
    el("button", { type: "button", class: "small", onclick: () => sendAgain(id) }, label),
  ];
}

/** @param {string} id */
async function sendAgain(id) {
  try {
    await send(`api/webhooks/${id}/again`, {});
    setText(at("message"), "It is on its way.");
  } catch (error) {
    setText(at("message"), errorText(error));
  }
}

load();
