// The field map: the board from above with everybody moving on it, the line of scrimmage and the line to gain.

import { Board } from "/assets/board.js";
import { el, say } from "/assets/dom.js";
import { overlay } from "/assets/overlay.js";

overlay("field", ["game", "ball", "line_up", "scene", "health"], (stage, options, feed) => {
  const board = new Board({
    turned: options.turn === "yes",
    numbers: options.numbers === "show",
    hands: options.hands === "show",
  });
  const hold = el("p", { class: "hold", hidden: true, role: "status" });
  stage.append(el("figure", { class: "map scaled" }, board.element, hold));

  board.follow(feed);
  feed.on("game", holdOn);
  feed.on("health", holdOn);

  function holdOn() {
    const suspended = feed.value("health")?.calls === "suspended" || feed.value("game")?.suspended.length > 0;
    hold.hidden = !suspended;
    say(hold, suspended ? "Camera calls suspended" : "");
  }
});
