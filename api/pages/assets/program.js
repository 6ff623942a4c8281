// The program as a page: H.264 where the browser can play it, otherwise pictures one by one.

import { el, elementsOf, offerPairing, setText } from "./dom.js";
import { Feed } from "./feed.js";
import { isCameraLost } from "./live_picture.js";
import { canPlayParts, PartPlayer } from "./part_player.js";

/** A film that shows no new picture for so long is opened again; on air, nothing of it is shown any longer. */
const STALLED_MS = 8_000;

/** A camera that is lost for so long is gone: its last picture is not shown as if it were live. */
const LOST_MS = 3_000;


const HLS_TYPE = "application/vnd.apple.mpegurl";

const key = new URLSearchParams(location.search).get("key");
const at = elementsOf("program");
// A source of a stream (OBS says so itself) shows the program or nothing: what lies below it, and no text.
const onAir = "obsstudio" in window || new URLSearchParams(location.search).has("air");
document.documentElement.toggleAttribute("data-on-air", onAir);
const [screen, message] = [at("screen"), at("message")];
/** @param {string} name */
const address = (name) => {
  const url = new URL(name, document.baseURI);
  if (key) url.searchParams.set("key", key);
  return url.href;
};

const video = el("video", { muted: true, autoplay: true, playsinline: true, "aria-label": "Program" });
video.muted = true; // the attribute alone does not let every browser play by itself

let shownAt = performance.now();
let lostAt = Infinity; // since when the camera is lost
let notice = "Waiting for a picture…"; // while none is shown
let streaming = false; // whether a stream of pictures has begun, which does not say that it goes on
const isGone = () => performance.now() - lostAt > LOST_MS;
const shown = () => {
  shownAt = performance.now();
  if (isGone()) return;
  message.hidden = true;
  document.documentElement.dataset.link = "live";
};
for (const type of ["timeupdate", "playing"]) {
  video.addEventListener(type, shown);
}

if (canPlayParts()) {
  screen.append(video);
  new PartPlayer(video, address("program.m3u8")).start();
} else if (video.canPlayType(HLS_TYPE)) {
  screen.append(video);
  const open = () => {
    shownAt = performance.now();
    video.src = address("program.m3u8");
    video.play().catch(() => {}); // it is tried again below
  };
  open();
  setInterval(() => performance.now() - shownAt > STALLED_MS && open(), 1_000);
} else {
  const picture = el("img", { alt: "Program", onload: () => (streaming = true) });
  picture.onerror = () => setTimeout(() => (picture.src = address("program.mjpeg")), 1_000);
  picture.src = address("program.mjpeg");
  screen.append(picture);
}

const hide = () => {
  document.documentElement.dataset.link = "connecting";
  message.hidden = onAir;
};
const feed = new Feed(["health"], key ?? "");
feed.on("health", (health) => {
  if (!isCameraLost(health)) lostAt = Infinity;
  else if (lostAt === Infinity) lostAt = performance.now();
});
setInterval(() => {
  if (isGone() || (screen.contains(video) && performance.now() - shownAt > STALLED_MS)) hide();
  else if (streaming) shown();
  setText(message, isGone() ? "The camera is lost: no picture is live." : notice);
}, 1_000);
feed.start();
message.hidden = onAir;

/** Show an error where the address has no valid key: no picture would ever come. */
async function checkKey() {
  const response = await fetch(address("api/session"), { credentials: "same-origin" });
  if (!response.ok || (await response.json()).role !== null) return;
  notice = "This address can’t watch: it has no key, or one that was removed.";
  if (!onAir) offerPairing();
}

checkKey().catch(() => {}); // the rig does not answer yet
