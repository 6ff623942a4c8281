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
  let number = null;

  feed.on("line_up", (lineUp) => {
    if (lineUp === undefined) return;
    board.lineUp(lineUp);
    if (feed.value("game")) board.game(feed.value("game"));
  });
  feed.on("game", (game) => {
    if (game === undefined) return;
    if (number !== null && game.game !== number) board.clear();
    number = game.game;
    board.game(game);
    holdOn();
  });
  feed.on("ball", (ball) => ball && board.ball(ball));
  feed.on("scene", (scene) => scene && board.scene(scene));
  feed.on("health", holdOn);

  function holdOn() {
    const suspended = feed.value("health")?.calls === "suspended" || feed.value("game")?.suspended.length > 0;
    hold.hidden = !suspended;
    say(hold, suspended ? "Camera calls suspended" : "");
  }
});
