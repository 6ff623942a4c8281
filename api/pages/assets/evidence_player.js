// Playing the frames in slow motion. Every frame is shown: one that has not come yet is waited for, never skipped.

const LOOP_NS = 0.5e9; // to each side of the decisive instant

/**
 * The frames that are played; a place is an index among them.
 *
 * @typedef {object} Film
 * @property {() => Service.EvidenceFrame[]} frames
 * @property {() => number} place that is shown
 * @property {() => number} decisive the place of the decisive frame
 * @property {(place: number) => boolean} isReady whether its picture has come
 * @property {(place: number) => void} goTo
 */

export class Player {
  /**
   * @param {Film} film
   * @param {() => void} onChange called when it starts, stops, or is set differently
   */
  constructor(film, onChange) {
    this.film = film;
    this.onChange = onChange;
    this.speed = 0; // 0 stands still
    this.loop = true;
    this.timer = 0;
  }

  get playing() {
    return this.speed > 0;
  }

  /** Play at a speed; the same speed again stops. @param {number} speed */
  toggle(speed) {
    if (this.speed === speed) {
      this.stop();
      return;
    }
    this.speed = speed;
    const [first, last] = this.range();
    const place = this.film.place();
    if (place < first || place >= last) this.film.goTo(first);
    this.#schedule(performance.now());
    this.onChange();
  }

  stop() {
    if (!this.playing) return;
    this.speed = 0;
    clearTimeout(this.timer);
    this.onChange();
  }

  /** @param {boolean} on */
  setLoop(on) {
    this.loop = on;
    this.onChange();
  }

  /** The first and the last place that are played. @returns {Point} */
  range() {
    const frames = this.film.frames();
    if (!this.loop) return [0, frames.length - 1];
    const middle_ns = frames[this.film.decisive()].t_ns;
    const near = frames.map(({ t_ns }, place) => (Math.abs(t_ns - middle_ns) <= LOOP_NS ? place : -1)).filter((place) => place >= 0);
    return [near[0], near[near.length - 1]];
  }

  /** The place that comes after one; null at the end. @param {number} place */
  after(place) {
    const [first, last] = this.range();
    if (place >= last) return this.loop ? first : null;
    return Math.max(place + 1, first);
  }

  /** @param {number} since_ms */
  #schedule(since_ms) {
    clearTimeout(this.timer);
    const frames = this.film.frames();
    const place = this.film.place();
    const next = this.after(place);
    if (next === null || next === place) {
      this.stop();
      return;
    }
    // The last frame of a loop stays a moment, so that its end is seen.
    const lasts_ms = next > place ? (frames[next].t_ns - frames[place].t_ns) / 1e6 / this.speed : 400;
    const due_ms = since_ms + lasts_ms;
    const turn = () => {
      if (!this.film.isReady(next)) {
        this.timer = setTimeout(turn, 20);
        return;
      }
      this.film.goTo(next);
      // A frame that came late moves all later ones: none is cut short to catch up.
      this.#schedule(Math.max(due_ms, performance.now() - 20));
    };
    this.timer = setTimeout(turn, Math.max(0, due_ms - performance.now()));
  }
}
