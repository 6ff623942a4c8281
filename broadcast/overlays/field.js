// The field map: the board from above with all figures, the line of scrimmage and the line to gain.

import { stepAside } from "./action.js";
import { Board } from "./board.js";
import { el, setText } from "./dom.js";
import { areCallsMissed, overlay } from "./overlay.js";

overlay("field", (stage, options, feed) => {
  const board = new Board({
    rotated: options.rotate === "yes",
    numbers: options.numbers === "show",
    hands: options.hands === "show",
  });
  const notice = el("p", { class: "suspended", hidden: true, role: "status" });
  const map = el("figure", { class: "map scaled" }, board.element, notice);
  stage.append(map);
  stepAside(() => map, feed);

  board.follow(feed);
  feed.on("game", updateNotice);
  feed.on("health", updateNotice);

  function updateNotice() {
    map.hidden = feed.value("game")?.shadow === true; // the machine referees nothing that is on air
    const suspended = areCallsMissed(feed.value("game"), feed.value("health"));
    notice.hidden = !suspended;
    setText(notice, suspended ? "Camera calls suspended" : "");
  }
});
