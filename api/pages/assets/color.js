// Team colors as chosen, with text on them that can be read.

/** Large bold text needs 3 (WCAG 2); half as much again for a stream's compression and the plates' shading. */
const MIN_CONTRAST = 4.5;

/** One of these reaches `MIN_CONTRAST` on any background: the worst, a middle gray, has 4.58 with either. */
const [WHITE, BLACK] = ["#ffffff", "#000000"];

/** Relative luminance of "#rrggbb", 0..1 (WCAG 2). @param {string} color */
export function luminance(color) {
  const [red, green, blue] = [1, 3, 5]
    .map((at) => parseInt(color.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Contrast of two colors, 1..21 (WCAG 2). @param {string} a @param {string} b */
export function contrast(a, b) {
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

/**
 * The team's own text color if it can be read on a background; otherwise black or white, whichever is clearer.
 *
 * @param {string} ink
 * @param {string} background
 */
export function readable(ink, background) {
  if (contrast(ink, background) >= MIN_CONTRAST) return ink;
  return contrast(WHITE, background) >= contrast(BLACK, background) ? WHITE : BLACK;
}

/**
 * Set an element's team colors: --team, --ink, and --shade, which sets a part off without costing contrast.
 *
 * @param {HTMLElement | SVGElement} element
 * @param {{ color: string, ink: string }} team
 */
export function applyTeamColors(element, team) {
  const ink = readable(team.ink, team.color);
  element.style.setProperty("--team", team.color);
  element.style.setProperty("--ink", ink);
  element.style.setProperty("--shade", luminance(ink) > luminance(team.color) ? "rgb(0 0 0 / 24%)" : "rgb(255 255 255 / 28%)");
}
