// Smooth movement between scenes, which come at most 15 times a second.

/** Figures are shown this much late, so that there is a later scene to move toward. */
const DELAY_MS = 110;

/** Enough scenes for the delay at the feed's rate. */
const MAX_SCENES = 8;

/** A gap longer than this is a cut, not a movement. */
const CUT_MS = 700;

export class Motion {
  /** @type {{ scene: Service.SceneView, at_ms: number, received_ms: number }[]} */
  #scenes = [];
  /** @type {?number} */
  #offset_ms = null;

  /** Add a scene as it comes from the feed. @param {Service.SceneView} scene */
  add(scene) {
    const at_ms = scene.t_ns / 1e6;
    const last = this.#scenes.at(-1);
    if (last !== undefined && at_ms <= last.at_ms) this.clear(); // the recording began again
    const offset_ms = performance.now() - at_ms;
    // The scene with the least delay gives the best offset between the clocks; a slow drift is followed.
    const known = this.#offset_ms;
    this.#offset_ms = known === null || Math.abs(offset_ms - known) > CUT_MS ? offset_ms : Math.min(offset_ms, known + 0.5);
    this.#scenes.push({ scene, at_ms, received_ms: performance.now() });
    if (this.#scenes.length > MAX_SCENES) this.#scenes.shift();
  }

  clear() {
    this.#scenes = [];
    this.#offset_ms = null;
  }

  /** The latest scene with its figures where they are to be shown now, and its age; null if there is none. */
  now() {
    const last = this.#scenes.at(-1);
    if (last === undefined) return null;
    const shown_ms = performance.now() - (this.#offset_ms ?? 0) - DELAY_MS;
    const later = this.#scenes.findIndex((entry) => entry.at_ms > shown_ms);
    const after = later < 0 ? last : this.#scenes[later];
    const before = this.#scenes[later - 1];
    const figures =
      before === undefined || after.at_ms - before.at_ms > CUT_MS
        ? after.scene.figures
        : interpolate(before.scene.figures, after.scene.figures, (shown_ms - before.at_ms) / (after.at_ms - before.at_ms));
    return { scene: after.scene, figures, ids: new Set(figures.map((figure) => figure.id)), age_ms: performance.now() - last.received_ms };
  }
}

/**
 * @param {Service.FigureView[]} before
 * @param {Service.FigureView[]} after
 * @param {number} share of the way from one to the other
 * @returns {Service.FigureView[]}
 */
function interpolate(before, after, share) {
  const from = new Map(before.map((figure) => [figure.id, figure]));
  return after.map((to) => {
    const start = from.get(to.id);
    if (start === undefined) return to;
    /** @param {number} a @param {number} b */
    const mix = (a, b) => a + (b - a) * share;
    const turn = ((to.heading - start.heading + 540) % 360) - 180;
    return {
      ...to,
      x_mm: mix(start.x_mm, to.x_mm),
      y_mm: mix(start.y_mm, to.y_mm),
      heading: start.heading + turn * share,
    };
  });
}
