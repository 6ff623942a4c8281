// Where the play is in the picture: what lies on air keeps clear of it.

/** A part of the picture: left, top, right, bottom, 0..1. @typedef {[number, number, number, number]} Part */

/** Around the middle of a figure: its base, its body and what it reaches within a picture's delay. */
const AROUND_MM = 55;

/** A figure goes on as it goes now for so long. */
const AHEAD_S = 1;

/** Of a figure that seems to go faster than any (another one took its name) nothing is foretold. */
const FASTEST_MM_S = 400;

/**
 * Follow the figures of a feed, whose overlay declares the topics `scene`, `picture` and `ball`; returns the parts of the
 * picture where ball, carrier and whom he touches are and will be within a second. Empty while they are not known.
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
 * The part of the picture around places on the board.
 *
 * @param {Service.PictureView} picture
 * @param {{ x_mm: number, y_mm: number }[]} places
 * @returns {Part}
 */
function partAround({ to_picture: h }, places) {
  const points = places.flatMap(({ x_mm, y_mm }) =>
    [-AROUND_MM, AROUND_MM].flatMap((dx) =>
      [-AROUND_MM, AROUND_MM].map((dy) => {
        const [x, y] = [x_mm + dx, y_mm + dy];
        const w = h[6] * x + h[7] * y + h[8];
        return [(h[0] * x + h[1] * y + h[2]) / w, (h[3] * x + h[4] * y + h[5]) / w];
      }),
    ),
  );
  const [across, down] = [points.map(([x]) => x), points.map(([, y]) => y)];
  return [Math.min(...across), Math.min(...down), Math.max(...across), Math.max(...down)];
}

/**
 * How much of the action an element hides, as a share of the picture; 0 for none.
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
