// "Use my phone" on the set-up's first step: a code for the phone, what the phone does meanwhile, and a second phone that asks.

import { el, elementsOf, refresh } from "./dom.js";
import { phoneChoice } from "./phone_choice.js";
import { errorText, send } from "./send.js";

const at = elementsOf("setup");
const WATCH_MS = 1_000;

/** @type {?Service.PairingDetails} */
let pairing = null;
let problem = "";
let watching = false;

/** Show a code, and open the phone as soon as it sends. @param {(source: string) => void} open */
export async function usePhone(open) {
  problem = "";
  try {
    /** @type {Service.PhoneDetails} */
    const phone = await send("api/phone", null, { method: "GET" });
    if (phone.sending && !phone.asking) {
      open(phone.source);
      return;
    }
    pairing = await send("api/phone/pairing", null);
  } catch (error) {
    problem = errorText(error);
  }
  if (!watching) watch(open);
}

/** @param {(source: string) => void} open */
async function watch(open) {
  watching = true;
  try {
    /** @type {Service.PhoneDetails} */
    const phone = await send("api/phone", null, { method: "GET" });
    if (phone.sending && !phone.asking) {
      watching = false;
      pairing = null;
      refresh(at("phone"), null, () => []);
      open(phone.source);
      return;
    }
    show(phone);
  } catch (error) {
    problem = errorText(error);
  }
  setTimeout(watch, WATCH_MS, open);
}

/** @param {Service.PhoneDetails} phone */
function show(phone) {
  const [asking, ...rest] = phoneChoice(phone, (text) => (problem = text));
  refresh(at("phone"), [pairing, phone, problem], () => [
    problem && el("p", { class: "finding", role: "alert" }, problem),
    asking,
    pairing && [
      el("img", { class: "qr", src: `api/pairings/${pairing.id}/qr.svg`, alt: `QR code of ${pairing.url}` }),
      el("p", {}, "Scan it with the phone. By hand: ", el("b", {}, pairing.url.split("#")[0]), " and the code ", el("b", { class: "code" }, pairing.code)),
      el("p", {}, "The phone warns once, as the certificate is this rig’s own and not a company’s:"),
      el("img", { class: "board", src: "assets/phone_warning.svg", alt: "iPhone: Show Details, then visit this website. Android: Advanced, then Proceed." }),
    ],
    ...rest,
  ]);
}
