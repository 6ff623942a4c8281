// The replay overlay: shows the clip of a call once it is made, and goes back to the live picture by itself.

import { el, setText } from "./dom.js";
import { capitalize, formatCallText } from "./format.js";
import { overlay } from "./overlay.js";
import { splashOf } from "./splash.js";
import { steadyNow } from "./steady_time.js";

/** A clip that does not begin to play within this is given up: the audience would look at a frozen frame. */
const START_MS = 4_000;

/** A replay of a great call waits until its splash was seen. */
const AFTER_SPLASH_MS = 3_600;

const PLAYING = ["live", "in_air", "kick"];

overlay("replay", (stage, options, feed) => {
  const video = el("video", { muted: true, playsinline: true, preload: "auto", "aria-label": "Replay" });
  video.muted = true; // the attribute alone does not let every browser play by itself
  const title = el("p", { class: "title" });
  const box = el("figure", { class: "replay scaled", hidden: true }, video, options.caption === "show" ? title : null);
  stage.append(box);
  /** @type {?number} */
  let take = null;
  let [watchdog, waiting, splash_until_ms] = [0, 0, 0];

  feed.on("calls", (_now, { snapshot, changed }) => {
    const calls = snapshot ? [] : (changed?.calls ?? []);
    const isOn = feed.value("on_air")?.elements.includes("splash") ?? true;
    if (isOn && calls.some((call) => splashOf(call, feed.value("game") ?? null) !== null)) splash_until_ms = steadyNow() + AFTER_SPLASH_MS;
  });

  feed.on("replay", (replay, { snapshot }) => {
    if (replay === undefined) return;
    const fresh = take !== null && replay.take !== take;
    take = snapshot && take === null ? replay.take : take; // one that ran before the page was opened is over
    if (replay.state === "ready" && (fresh || (replay.take === take && box.dataset.state === "waiting"))) {
      take = replay.take;
      clearTimeout(waiting);
      waiting = setTimeout(() => play(replay), Math.max(0, splash_until_ms - steadyNow()));
    } else if (fresh) {
      take = replay.take;
      leave();
      box.dataset.state = replay.state === "making" ? "waiting" : "";
    } else if (replay.state === "none") leave();
    if (replay.take === take) pace(replay);
  });

  feed.on("game", (game) => {
    if (game !== undefined && PLAYING.includes(game.phase)) leave(); // never over a play
  });

  /** @param {Service.ReplayView} replay */
  function play(replay) {
    const address = new URL(replay.clip, document.baseURI);
    address.searchParams.set("take", String(replay.take));
    if (options.key) address.searchParams.set("key", options.key);
    setText(title, capitalize(formatCallText(replay.text)));
    box.dataset.state = "loading";
    video.src = address.href;
    video.defaultPlaybackRate = replay.speed; // a source that is loaded begins with it
    clearTimeout(watchdog);
    watchdog = setTimeout(() => box.dataset.state === "loading" && leave(), START_MS);
    video.play().catch(() => leave());
  }

  /** Play on as the producer has it. @param {Service.ReplayView} replay */
  function pace({ speed, frozen }) {
    video.defaultPlaybackRate = speed;
    video.playbackRate = speed;
    if (box.dataset.state !== "playing" || video.ended) return;
    if (frozen) video.pause();
    else video.play().catch(() => leave());
  }

  video.addEventListener("playing", () => {
    if (box.dataset.state !== "loading") return;
    box.dataset.state = "playing";
    box.hidden = false;
    if (feed.value("replay")?.frozen) video.pause();
    box.animate([{ opacity: 0, scale: "0.94" }, { opacity: 1, scale: "1" }], { duration: 320, easing: "cubic-bezier(0.2, 0.7, 0.2, 1)" });
  });
  for (const end of ["ended", "error"]) video.addEventListener(end, () => leave());

  function leave() {
    clearTimeout(watchdog);
    clearTimeout(waiting);
    box.dataset.state = "";
    if (box.hidden) return;
    const leaving = box.animate([{ opacity: 1 }, { opacity: 0 }], { duration: 350 });
    leaving.onfinish = () => {
      if (box.dataset.state !== "") return; // the next one has begun
      box.hidden = true;
      video.removeAttribute("src");
      video.load();
    };
  }
});
