// Zooming into a picture by a tap, two fingers or the wheel, and dragging it while it is zoomed.

const MAX_ZOOM = 12;
const TAP_ZOOM = 5;
const TAP_SLOP_PX = 8; // a finger that moves less on the screen has tapped

/**
 * Make a picture that fills a box zoomable; the view stays from one picture to the next.
 *
 * @param {HTMLElement} box
 * @param {HTMLElement} picture
 * @param {object} options
 * @param {() => void} options.onView called whenever the view changes
 * @param {() => boolean} options.claims whether a tool takes a pointer that has come down, so that it neither zooms nor drags
 * @returns `view()`; `zoomTo(place, zoom)` with a place of the unzoomed box in its middle; `reset()`
 */
export function makeZoomable(box, picture, { onView, claims }) {
  /** @type {Map<number, Point>} by pointer */
  const fingers = new Map();
  let view = { x: 0, y: 0, zoom: 1 }; // the picture's upper left corner in the box, screen pixels, and its scale
  /** @type {?Point} */
  let tap = null;

  /** @param {MouseEvent} event @returns {Point} */
  const position = (event) => {
    const { left, top } = box.getBoundingClientRect();
    return [event.clientX - left - box.clientLeft, event.clientY - top - box.clientTop];
  };

  /** @param {number} x @param {number} y @param {number} zoom */
  function setView(x, y, zoom) {
    const scale = Math.min(Math.max(zoom, 1), MAX_ZOOM);
    /** @param {number} at @param {number} length */
    const clamp = (at, length) => Math.min(0, Math.max(at, length - length * scale));
    view = { x: clamp(x, box.clientWidth), y: clamp(y, box.clientHeight), zoom: scale };
    picture.style.transform = `translate(${view.x}px, ${view.y}px) scale(${scale})`;
    picture.style.imageRendering = scale > 3 ? "pixelated" : "";
    box.classList.toggle("zoomed", scale > 1);
    onView();
  }

  /** Zoom about a place of the box. @param {Point} at @param {number} zoom */
  function zoomAt([x, y], zoom) {
    const factor = Math.min(Math.max(zoom, 1), MAX_ZOOM) / view.zoom;
    setView(x - (x - view.x) * factor, y - (y - view.y) * factor, view.zoom * factor);
  }

  /** @param {Point[]} places @returns {Point} */
  const center = (places) => {
    const [x, y] = [0, 1].map((axis) => places.reduce((sum, place) => sum + place[axis], 0) / places.length);
    return [x, y];
  };
  /** @param {Point[]} places */
  const span = ([a, b]) => Math.max(1, Math.hypot(a[0] - b[0], a[1] - b[1]));

  box.addEventListener("pointerdown", (event) => {
    if (claims()) return;
    box.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, position(event));
    tap = fingers.size === 1 ? position(event) : null;
  });

  box.addEventListener("pointermove", (event) => {
    if (!fingers.has(event.pointerId)) return;
    const before = [...fingers.values()];
    fingers.set(event.pointerId, position(event));
    const now = [...fingers.values()];
    if (tap !== null && Math.hypot(now[0][0] - tap[0], now[0][1] - tap[1]) < TAP_SLOP_PX) return;
    tap = null;
    const [from, to] = [center(before), center(now)];
    setView(view.x + to[0] - from[0], view.y + to[1] - from[1], view.zoom);
    if (now.length === 2) zoomAt(to, (view.zoom * span(now)) / span(before));
  });

  /** @param {PointerEvent} event */
  const liftFinger = (event) => {
    fingers.delete(event.pointerId);
    if (event.type === "pointerup" && tap !== null) zoomAt(tap, view.zoom > 1 ? 1 : TAP_ZOOM);
    tap = null;
  };
  box.addEventListener("pointerup", liftFinger);
  box.addEventListener("pointercancel", liftFinger);

  box.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoomAt(position(event), view.zoom * Math.exp(-event.deltaY / 400));
  }, { passive: false });
  let size = [box.clientWidth, box.clientHeight];
  new ResizeObserver(() => {
    const [width, height] = size;
    size = [box.clientWidth, box.clientHeight];
    if (width && height) setView((view.x * size[0]) / width, (view.y * size[1]) / height, view.zoom);
  }).observe(box);

  return {
    view: () => view,
    /** @param {Point} place @param {number} zoom */
    zoomTo: ([x, y], zoom) => setView(box.clientWidth / 2 - x * zoom, box.clientHeight / 2 - y * zoom, zoom),
    reset: () => setView(0, 0, 1),
  };
}
