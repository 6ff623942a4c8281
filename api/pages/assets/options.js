// Options in a page's URL, checked: a misspelled one is reported on the page instead of being ignored.

/**
 * @template T
 * @typedef {object} Option
 * @property {string} help
 * @property {T} fallback
 * @property {string} allowed in words
 * @property {(text: string) => T | undefined} read returns undefined for what is not allowed
 */

/**
 * @template {Record<string, Option<any>>} O
 * @typedef {{ [name in keyof O]: O[name]["fallback"] }} Values the value of each option
 */

/**
 * An option with several possible words; the first is the default.
 *
 * @template {string} W
 * @param {string} help
 * @param {W[]} allowed
 * @returns {Option<W>}
 */
export const word = (help, ...allowed) => ({
  help,
  fallback: allowed[0],
  allowed: `one of ${allowed.join(", ")}`,
  read: (text) => allowed.find((one) => one === text),
});

/**
 * An option that is a number within bounds.
 *
 * @param {string} help
 * @param {number} fallback
 * @param {number} low
 * @param {number} high
 * @returns {Option<number>}
 */
export const number = (help, fallback, low, high) => ({
  help,
  fallback,
  allowed: `a number from ${low} to ${high}`,
  read: (text) => {
    const value = text.trim() === "" ? NaN : Number(text);
    return value >= low && value <= high ? value : undefined;
  },
});

/**
 * An option that is a color or one of some words; the first word is the default.
 *
 * @param {string} help
 * @param {string[]} words
 * @returns {Option<string>}
 */
export const color = (help, ...words) => ({
  help,
  fallback: words[0],
  allowed: `${words.join(", ")} or a color such as 00b140`,
  read: (text) =>
    words.includes(text) ? text : /^#?[0-9a-fA-F]{6}$/.test(text) ? `#${text.replace("#", "")}` : undefined,
});

/** An option that is a device's token. @param {string} help @returns {Option<string>} */
export const token = (help) => ({
  help,
  fallback: "",
  allowed: "letters, digits, _ and -",
  read: (text) => (/^[\w-]+$/.test(text) ? text : undefined),
});

/**
 * Read a URL's query: the options' values, and a line for everything that is wrong with it.
 *
 * @template {Record<string, Option<any>>} O
 * @param {string} query
 * @param {O} options
 * @returns {{ values: Values<O>, problems: string[] }}
 */
export function readOptions(query, options) {
  const values = Object.fromEntries(Object.entries(options).map(([name, option]) => [name, option.fallback]));
  /** @type {string[]} */
  const problems = [];
  const seen = new Set();
  for (const [name, text] of new URLSearchParams(query)) {
    const option = Object.hasOwn(options, name) ? options[name] : undefined;
    if (option === undefined) {
      problems.push(`There is no option “${name}”. The options are ${Object.keys(options).join(", ")}.`);
      continue;
    }
    const value = option.read(text);
    if (seen.has(name)) problems.push(`“${name}” is given twice.`);
    else if (value === undefined) problems.push(`“${name}” can’t be “${text}”. Use ${option.allowed}.`);
    else values[name] = value;
    seen.add(name);
  }
  return { values: /** @type {Values<O>} */ (values), problems };
}
