// The sponsors' logos, one after the other, in one place.

import { stepAside } from "./action.js";
import { el } from "./dom.js";
import { logoImage } from "./logos.js";
import { overlay } from "./overlay.js";

overlay("sponsors", (stage, _options, feed) => {
  const slot = el("div", { class: "sponsors scaled" });
  stage.append(slot);
  stepAside(() => slot, feed);
  let shown = "";
  let timer = 0;

  feed.on("sponsors", (sponsors) => {
    const { logos, seconds } = sponsors?.shown ? sponsors : { logos: [], seconds: 60 };
    const now = JSON.stringify([logos, seconds]);
    if (now === shown) return; // a connection that was made again says what is known
    shown = now;
    slot.replaceChildren(...logos.map(logoImage));
    turn();
    clearInterval(timer);
    timer = setInterval(turn, 1000 * seconds);
  });

  function turn() {
    const last = slot.querySelector(".on");
    const next = last?.nextElementSibling ?? slot.firstElementChild;
    last?.classList.remove("on");
    next?.classList.add("on");
  }
});
