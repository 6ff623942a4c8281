// What the producer has chosen and not yet put on air, and putting it there.

import { send } from "./send.js";

/** @typedef {Service.OnAirView["elements"][number]} Element */
/** @typedef {{ style?: Service.OnAirStyle, program?: Service.ProgramOptions }} Look what a preset has besides its elements */

/** Before the rig has said anything. @type {Service.OnAirView} */
const NOTHING = {
  elements: [], people: [], presets: [], prepared: [],
  style: { theme: null, font: null, plate: null, accent: null, corners: null, scale: null },
  program: { view: "camera", elements: [], tags: "off", theme: "broadcast" },
};

export class Air {
  #feed;
  /** @type {(() => void)[]} */
  #listeners = [];
  /** What was taken and is on its way: what is chosen meanwhile is chosen on top of it. @type {{ switched: Map<Element, boolean>, look: Look }} */
  #taken = { switched: new Map(), look: {} };
  /** Elements that are to be put on or taken off. @type {Map<Element, boolean>} */
  #switched = new Map();
  /** @type {Look} */
  #look = {};
  /** The card to show, and how it looks now. @type {?{ wanted: Service.GraphicRequest, view: Service.GraphicView, queued: boolean }} */
  #card = null;
  #atOnce = false;

  /** @param {Feed} feed */
  constructor(feed) {
    this.#feed = feed;
    for (const topic of /** @type {const} */ (["on_air", "graphic", "sponsors"])) {
      feed.on(topic, () => {
        if (topic === "on_air") this.#taken = { switched: new Map(), look: {} };
        this.#changed();
      });
    }
  }

  /** Call `listener()` when something else is chosen, or on air. @param {() => void} listener */
  follow(listener) {
    this.#listeners.push(listener);
  }

  #changed() {
    for (const listener of this.#listeners) listener();
  }

  /** Whether all is put on air as it is chosen. */
  get atOnce() {
    return this.#atOnce;
  }

  set atOnce(atOnce) {
    this.#atOnce = atOnce;
    this.discard();
  }

  /** What is on air. */
  get now() {
    return this.#feed.value("on_air") ?? NOTHING;
  }

  /** What would be, once it is taken. @returns {Service.OnAirView} */
  get wanted() {
    return changed(this.#next, this.#switched, this.#look);
  }

  /** What is on air once what was taken has arrived. */
  get #next() {
    return changed(this.now, this.#taken.switched, this.#taken.look);
  }

  /** What waits to be taken, in words; empty for nothing. */
  get pending() {
    return [
      this.#switched.size > 0 && "elements",
      this.#look.style && "style",
      this.#look.program && "program",
      this.#card && "card",
    ].filter(Boolean);
  }

  /** The topics of overlays in a preview. @returns {Partial<Service.Topics>} */
  get preview() {
    const sponsors = this.#feed.value("sponsors");
    return {
      on_air: this.wanted,
      ...(sponsors && { sponsors: { ...sponsors, shown: this.wanted.elements.includes("sponsors") } }),
      ...(this.#card && { graphic: { ...this.#card.view, take: -1, seconds: 0 } }), // it stays as long as it waits
    };
  }

  /** @param {Element} element @param {boolean} isOn */
  async switch(element, isOn) {
    if (this.atOnce) return send(`api/on-air/elements/${element}`, { on: isOn });
    if (this.#next.elements.includes(element) === isOn) this.#switched.delete(element);
    else this.#switched.set(element, isOn);
    this.#changed();
  }

  /** @param {Look} look */
  async use(look) {
    if (this.atOnce) return send("api/on-air", look);
    this.#look = { ...this.#look, ...look };
    this.#changed();
  }

  /** @param {Service.OnAirPreset} preset */
  async usePreset({ name, elements, style, program }) {
    if (this.atOnce) return send(`api/on-air/presets/${encodeURIComponent(name)}`, {});
    const now = this.#next.elements;
    const all = new Set([...now, ...elements]);
    this.#switched = new Map([...all].filter((one) => now.includes(one) !== elements.includes(one)).map((one) => [one, elements.includes(one)]));
    this.#look = { style, program };
    this.#changed();
  }

  /** @param {Service.GraphicRequest} wanted @param {boolean} [queued] whether it is of the queue, which it leaves for the air */
  async show(wanted, queued = false) {
    if (this.atOnce) return this.#putUp(wanted, queued);
    this.#card = { wanted, view: await send("api/graphic?preview=true", wanted), queued };
    this.#changed();
  }

  /** @param {Service.GraphicRequest} wanted @param {boolean} queued */
  async #putUp(wanted, queued) {
    await send("api/graphic", wanted);
    const place = this.now.prepared.findIndex((one) => JSON.stringify(one) === JSON.stringify(wanted));
    if (queued && place >= 0) await send("api/on-air", { prepared: this.now.prepared.toSpliced(place, 1) });
  }

  /** Put everything that was chosen on air; where that fails it waits again. */
  async take() {
    const { elements } = this.wanted;
    let [switched, look] = [this.#switched, this.#look];
    const card = this.#card;
    const change = { ...(switched.size > 0 && { elements }), ...look };
    this.#taken = { switched, look };
    this.discard();
    try {
      if (Object.keys(change).length > 0) await send("api/on-air", change);
      [switched, look] = [new Map(), {}];
      if (card !== null) await this.#putUp(card.wanted, card.queued);
    } catch (error) {
      this.#taken = { switched: new Map(), look: {} };
      this.#switched = new Map([...switched, ...this.#switched]);
      this.#look = { ...look, ...this.#look };
      this.#card ??= card;
      this.#changed();
      throw error;
    }
  }

  discard() {
    this.#switched = new Map();
    this.#look = {};
    this.#card = null;
    this.#changed();
  }
}

/** @param {Service.OnAirView} now @param {Map<Element, boolean>} switched @param {Look} look @returns {Service.OnAirView} */
function changed(now, switched, { style, program }) {
  const on = new Set(now.elements);
  for (const [element, isOn] of switched) isOn ? on.add(element) : on.delete(element);
  return { ...now, elements: [...on], style: style ?? now.style, program: program ?? now.program };
}
