// Which phone is the camera: what is paired and asks, and the admin's answer; on the set-up and on the panel.

import { el, refresh } from "./dom.js";
import { errorText, send } from "./send.js";

/**
 * The phone that is the camera, another one that asks, and what is wrong with it.
 *
 * @param {Service.PhoneDetails} phone
 * @param {(problem: string) => void} answered
 */
export function phoneChoice({ camera, asking, problems }, answered) {
  /** @param {string} label @param {() => Promise<unknown>} act */
  const button = (label, act) =>
    el("button", { type: "button", class: "small", onclick: () => act().then(() => answered(""), (error) => answered(errorText(error))) }, label);
  /** @param {Service.PhoneDevice} device */
  const remove = (device) => () => send(`api/devices/${device.id}`, null, { method: "DELETE" });
  return [
    asking && camera && el("div", { class: "finding" },
      el("b", {}, `Another phone, ${asking.name}, wants to be the camera.`),
      el("p", {}, `${camera.name} is it now, and would be removed.`),
      button("Use the other phone", () => send("api/phone/choose", { device: asking.id })),
      button("Refuse it", remove(asking))),
    camera && el("p", {}, `Paired: ${camera.name}. `, button("Remove it", remove(camera))),
    ...problems.map(({ text, remedy }) => el("div", { class: "finding" }, el("b", {}, text), el("p", {}, remedy))),
  ];
}

/**
 * Keep a section of the panel up to date, for the admin; it is hidden while no phone is paired, and opens when another one asks.
 *
 * @param {HTMLDetailsElement} section
 * @param {HTMLElement} body
 * @param {Feed} feed
 */
export function phoneSection(section, body, feed) {
  let problem = "";
  let known = "";
  /** @type {?string} */
  let asked = null;
  section.hidden = true;
  const show = async () => {
    const response = await fetch("api/phone", { credentials: "same-origin" }).catch(() => null);
    section.hidden = !response?.ok;
    if (!response?.ok) return;
    /** @type {Service.PhoneDetails} */
    const phone = await response.json();
    section.hidden = phone.camera === null;
    if (phone.asking && phone.asking.id !== asked) section.open = true;
    asked = phone.asking?.id ?? null;
    refresh(body, [phone, problem], () => [
      problem && el("p", { class: "finding", role: "alert" }, problem),
      ...phoneChoice(phone, (text) => {
        problem = text;
        show();
      }),
    ]);
  };
  feed.on("health", (health) => {
    const state = JSON.stringify([health?.camera, health?.reasons.filter(({ code }) => /^(phone_|camera_lost)/.test(code))]);
    if (state !== known) show();
    known = state;
  });
}
