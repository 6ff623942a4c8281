// Options in a page's URL, checked: a misspelled one is reported on the page instead of being ignored.

/** An option with several possible words; the first is the default. */
export const word = (help, ...allowed) => ({
  help,
  fallback: allowed[0],
  allowed: `one of ${allowed.join(", ")}`,
  read: (text) => (allowed.includes(text) ? text : undefined),
});

/** An option that is a number within bounds. */
export const number = (help, fallback, low, high) => ({
  help,
  fallback,
  allowed: `a number from ${low} to ${high}`,
  read: (text) => {
    const value = text.trim() === "" ? NaN : Number(text);
    return value >= low && value <= high ? value : undefined;
  },
});

/** An option that is a color or one of some words; the first word is the default. */
export const color = (help, ...words) => ({
  help,
  fallback: words[0],
  allowed: `${words.join(", ")} or a color such as 00b140`,
  read: (text) =>
    words.includes(text) ? text : /^#?[0-9a-fA-F]{6}$/.test(text) ? `#${text.replace("#", "")}` : undefined,
});

/** An option that is a device's token. */
export const token = (help) => ({
  help,
  fallback: "",
  allowed: "letters, digits, _ and -",
  read: (text) => (/^[\w-]+$/.test(text) ? text : undefined),
});

/** Read a URL's query: the options' values, and a line for everything that is wrong with it. */
export function readOptions(query, options) {
  const values = Object.fromEntries(Object.entries(options).map(([name, option]) => [name, option.fallback]));
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
  return { values, problems };
}
