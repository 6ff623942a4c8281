// The options of an overlay's address, from its declaration.

import { color, number, token, word } from "./options.js";

/** @param {Service.Overlay} declared */
export const overlayOptions = ({ options }) =>
  Object.fromEntries(Object.entries(options).map(([name, option]) => [name, checkedOption(option)]));

/**
 * @param {Service.Overlay["options"][string]} option
 * @returns {import("./options.js").Option<any>}
 */
function checkedOption(option) {
  switch (option.kind) {
    case "word":
      return word(option.help, ...option.words);
    case "number":
      return number(option.help, option.default, option.low, option.high);
    case "color":
      return color(option.help, ...option.words);
    case "token":
      return token(option.help);
  }
}
