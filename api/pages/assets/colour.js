// Team colours as they are, with ink on them that can be read.

/** Contrast that large bold text needs, and half as much again for a stream's compression (WCAG asks for 3). */
const ENOUGH = 4.5;

/** Relative luminance of "#rrggbb", 0..1 (WCAG 2). */
export function luminance(colour) {
  const [red, green, blue] = [1, 3, 5]
    .map((at) => parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Contrast of two colours, 1..21 (WCAG 2). */
export function contrast(a, b) {
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

/** The wished ink if it can be read on a background, else black or white, whichever is clearer. */
export function readable(ink, background) {
  if (contrast(ink, background) >= ENOUGH) return ink;
  return contrast("#ffffff", background) >= contrast("#0b0f14", background) ? "#ffffff" : "#0b0f14";
}

/** Give an element its team's colours, as --team and --ink. */
export function dress(element, team) {
  element.style.setProperty("--team", team.colour);
  element.style.setProperty("--ink", readable(team.ink, team.colour));
}
