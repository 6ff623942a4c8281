// Looking closer at a picture: a tap, two fingers, the wheel; and moving it about while it is near.

const CLOSEST = 12; // times
const TAPPED = 5;
const MOVED_PX = 8; // of the screen: a finger that moves less has tapped

/** Let a picture that fills a box be looked at more closely; the view stays from one picture to the next. */
export function closer(box, picture) {
  const fingers = new Map();
  let view = { x: 0, y: 0, zoom: 1 }; // the picture's upper left corner in the box, screen pixels, and how much larger
  let tap = null;

  const here = (event) => {
    const { left, top } = box.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  };

  function look(x, y, zoom) {
    const by = Math.min(Math.max(zoom, 1), CLOSEST);
    const keep = (at, length) => Math.min(0, Math.max(at, length - length * by));
    view = { x: keep(x, box.clientWidth), y: keep(y, box.clientHeight), zoom: by };
    picture.style.transform = `translate(${view.x}px, ${view.y}px) scale(${by})`;
    picture.style.imageRendering = by > 3 ? "pixelated" : "";
    box.classList.toggle("near", by > 1);
  }

  /** Zoom so that what is at a place of the box stays there. */
  function zoomAt([x, y], zoom) {
    const by = Math.min(Math.max(zoom, 1), CLOSEST) / view.zoom;
    look(x - (x - view.x) * by, y - (y - view.y) * by, view.zoom * by);
  }

  const middle = (places) => [0, 1].map((axis) => places.reduce((sum, one) => sum + one[axis], 0) / places.length);
  const span = ([a, b]) => Math.max(1, Math.hypot(a[0] - b[0], a[1] - b[1]));

  box.addEventListener("pointerdown", (event) => {
    box.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, here(event));
    tap = fingers.size === 1 ? here(event) : null;
  });

  box.addEventListener("pointermove", (event) => {
    if (!fingers.has(event.pointerId)) return;
    const before = [...fingers.values()];
    fingers.set(event.pointerId, here(event));
    const now = [...fingers.values()];
    if (tap !== null && Math.hypot(now[0][0] - tap[0], now[0][1] - tap[1]) < MOVED_PX) return;
    tap = null;
    const [from, to] = [middle(before), middle(now)];
    look(view.x + to[0] - from[0], view.y + to[1] - from[1], view.zoom);
    if (now.length === 2) zoomAt(to, (view.zoom * span(now)) / span(before));
  });

  const lifted = (event) => {
    fingers.delete(event.pointerId);
    if (event.type === "pointerup" && tap !== null) zoomAt(tap, view.zoom > 1 ? 1 : TAPPED);
    tap = null;
  };
  box.addEventListener("pointerup", lifted);
  box.addEventListener("pointercancel", lifted);

  box.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoomAt(here(event), view.zoom * Math.exp(-event.deltaY / 400));
  }, { passive: false });
  addEventListener("resize", () => look(view.x, view.y, view.zoom));
}
