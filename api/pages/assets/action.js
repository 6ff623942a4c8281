// Where the play is in the picture: what lies on air keeps clear of it.

import { steadyNow } from "./steady_time.js";

/** A part of the window: left, top, right, bottom, 0..1. @typedef {[number, number, number, number]} Part */

/** What has stepped aside stays there so long after the action has left its place: it would flicker otherwise. */
const ASIDE_MS = 4_000;

/** Around the middle of a figure: its base, its body and what it reaches within a picture's delay. */
const AROUND_MM = 55;

/** A figure goes on as it goes now for so long. */
const AHEAD_S = 1;

/** Of a figure that seems to go faster than any (another one took its name) nothing is foretold. */
const FASTEST_MM_S = 400;

/**
 * Follow the figures of a feed, whose overlay declares the topics `scene`, `picture` and `ball`; returns the parts of the
 * window, in which the whole picture is shown, where ball, carrier and whom he touches are and will be within a second. Empty while they are not known.
 *
 * @param {Feed} feed
 * @returns {() => Part[]}
 */
export function followAction(feed) {
  /** @type {Map<string, { t_ns: number, x_mm: number, y_mm: number, vx: number, vy: number }>} */
  const figures = new Map();
  feed.on("scene", (scene) => {
    for (const { id, x_mm, y_mm } of scene?.figures ?? []) {
      const before = figures.get(id);
      const passed_s = before === undefined ? 0 : (Number(scene?.t_ns) - before.t_ns) / 1e9;
      const speed = passed_s > 0 && before !== undefined ? [(x_mm - before.x_mm) / passed_s, (y_mm - before.y_mm) / passed_s] : [0, 0];
      const [vx, vy] = Math.hypot(speed[0], speed[1]) > FASTEST_MM_S ? [0, 0] : speed;
      figures.set(id, { t_ns: Number(scene?.t_ns), x_mm, y_mm, vx, vy });
    }
  });
  return () => {
    const [scene, picture, carrier] = [feed.value("scene"), feed.value("picture"), feed.value("ball")?.player];
    if (scene === undefined || picture === undefined) return [];
    const touched = scene.touching.filter((pair) => pair.includes(carrier ?? "")).flat();
    const parts = scene.figures
      .filter(({ id }) => id === carrier || touched.includes(id))
      .map((figure) => {
        const { vx, vy } = figures.get(figure.id) ?? { vx: 0, vy: 0 };
        return partAround(picture, [figure, { x_mm: figure.x_mm + AHEAD_S * vx, y_mm: figure.y_mm + AHEAD_S * vy }]);
      });
    if (scene.ball_mm !== null) parts.push(partAround(picture, [{ x_mm: scene.ball_mm[0], y_mm: scene.ball_mm[1] }]));
    return parts;
  };
}

/**
 * The part of the window around places on the board; a picture of another shape has bars beside it.
 *
 * @param {Service.PictureView} picture
 * @param {{ x_mm: number, y_mm: number }[]} places
 * @returns {Part}
 */
function partAround({ to_picture: h, size: [width, height] }, places) {
  const fit = Math.min(innerWidth / width, innerHeight / height);
  const [share_x, share_y] = [(fit * width) / innerWidth, (fit * height) / innerHeight];
  const points = places.flatMap(({ x_mm, y_mm }) =>
    [-AROUND_MM, AROUND_MM].flatMap((dx) =>
      [-AROUND_MM, AROUND_MM].map((dy) => {
        const [x, y] = [x_mm + dx, y_mm + dy];
        const w = h[6] * x + h[7] * y + h[8];
        return [0.5 + share_x * ((h[0] * x + h[1] * y + h[2]) / w - 0.5), 0.5 + share_y * ((h[3] * x + h[4] * y + h[5]) / w - 0.5)];
      }),
    ),
  );
  const [across, down] = [points.map(([x]) => x), points.map(([, y]) => y)];
  return [Math.min(...across), Math.min(...down), Math.max(...across), Math.max(...down)];
}

/**
 * How much of the action an element hides, as a share of the window; 0 for none.
 *
 * @param {DOMRect} box of the element, in pixels of the window
 * @param {Part[]} action
 */
export function hiddenShare(box, action) {
  const [left, top, right, bottom] = [box.left / innerWidth, box.top / innerHeight, box.right / innerWidth, box.bottom / innerHeight];
  return action.reduce(
    (sum, part) => sum + Math.max(0, Math.min(right, part[2]) - Math.max(left, part[0])) * Math.max(0, Math.min(bottom, part[3]) - Math.max(top, part[1])),
    0,
  );
}

/**
 * Let an element that stays in its place be seen through while a play is under it: it has the class `aside` meanwhile.
 *
 * @param {() => ?HTMLElement} find the element; null for none
 * @param {Feed} feed of an overlay that declares the topics `game`, `scene`, `picture` and `ball`
 */
export function stepAside(find, feed) {
  const action = followAction(feed);
  let until_ms = -Infinity;
  setInterval(() => {
    const [now, element] = [steadyNow(), find()];
    if (element === null) return;
    const isPlaying = feed.value("game")?.board === "on" || Boolean(feed.value("ball")?.player); // from the moment that a play is ready
    if (isPlaying && hiddenShare(element.getBoundingClientRect(), action()) > 0) until_ms = now + ASIDE_MS;
    element.classList.toggle("aside", now < until_ms);
  }, 100);
}
