// The ruling sheet of a call: one page for print, with a way back to the frames.

import { el, elementsOf, setText } from "./dom.js";
import { SIDES, capitalize, formatCallText, formatRuling, formatTime, formatVerdict, nameSides, sentence } from "./format.js";
import { formatGameDate } from "./game_summary.js";
import { errorText, read } from "./send.js";
import { DECISION_WORDS, MAY_RULE } from "./challenges.js";

const at = elementsOf("ruling");
const query = new URLSearchParams(location.search);
const game = query.get("game") ?? "current";
const call = query.get("call") ?? "";
const path = `api/games/${encodeURIComponent(game)}`;
const callPath = `${path}/calls/${encodeURIComponent(call)}`;
/** @param {string} address */
const get = (address) => read(address, (text) => setText(at("message"), text));

async function load() {
  at("frames").href = `evidence?${new URLSearchParams({ game, call })}`;
  /** @type {[Service.ReviewedGame, Service.CallView[], Service.ChallengesView, ?Service.EvidenceFrames]} */
  const [details, [found], { challenges }, frames] = await Promise.all([
    get(path),
    get(`${callPath.split("calls")[0]}calls?${new URLSearchParams({ around: call, limit: "1" })}`),
    get(`${path}/challenges`),
    read(`${callPath}/frames`).catch(() => null), // a game without a camera has no pictures
  ]);
  nameSides(details);
  if (found === undefined) throw new Error("This game has no such call.");
  const challenge = challenges.findLast((one) => one.call === found.id);
  setText(at("game"), [`${details.away} at ${details.home}`, formatGameDate(details), details.table, details.rulebook_title].filter(Boolean).join(" · "));
  setText(at("question"), capitalize(formatCallText(found.text)));
  setText(at("asked"), challenge === undefined ? "" : `${details[challenge.side]} challenged this call: ${challenge.reason}`);
  for (const side of SIDES) setText(at(side), `Coach, ${details[side]}`);
  at("signed").hidden = !MAY_RULE.has((await read("api/session")).role);
  at("signed").href = `${callPath}/signed.zip`;
  at("code").src = `${callPath}/qr.svg`;
  at("code").hidden = false;
  setText(at("link"), at("frames").href);
  showPictures(frames);
  const ruled = found.ruling ? formatRuling(found.ruling) : challenge?.decision ? "" : "Nobody has ruled on it: the call stands as it was made";
  /** @type {[string, string][]} */
  const facts = [
    ["When", formatTime(found.t_ns)],
    ["Measured", [found.words || found.summary, found.measured].filter(Boolean).map(sentence).join(" ")],
    ["Rule", found.clauses.map(({ id, text }) => [id, text].filter(Boolean).join(": ")).map(sentence).join(" ")],
    ["The call", found.standing === "stands" ? "Made by Downfield, and it stands" : capitalize(formatVerdict(found))],
    ["Ruling", ruled],
    ["Challenge", challenge?.decision ? [capitalize(DECISION_WORDS[challenge.decision]), challenge.ruling_reason, `Decided by ${challenge.ruled_by}`, challenge.cost].filter(Boolean).map(sentence).join(" ") : ""],
  ];
  for (const { decision, reason, by } of challenge?.opinions ?? []) facts.push(["Opinion", sentence(`${by}: ${DECISION_WORDS[decision]}, ${reason}`)]);
  if (challenge?.appealed) facts.push(["Appeal", [`${challenge.appealed.by} had decided: ${DECISION_WORDS[challenge.appealed.decision]}`, challenge.appeal].map(sentence).join(" ")]);
  at("facts").replaceChildren(...facts.filter(([, text]) => text).flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, text)]));
  setText(at("message"), "");
}

/** The last frame that does not show it beside the first that does. @param {?Service.EvidenceFrames} frames */
function showPictures(frames) {
  if (frames === null) return;
  const shown = [frames.last_before, frames.decisive].flatMap((wanted) => frames.frames.filter(({ frame }) => frame === wanted));
  at("pictures").replaceChildren(
    ...shown.map(({ frame, t_ns, text }) => {
      const since_ms = Math.round((t_ns - frames.call.t_ns) / 1e6);
      const when = since_ms < 0 ? `${-since_ms} ms before the instant` : `${since_ms} ms after it`;
      return el("figure", {}, el("img", { src: `${callPath}/frames/${frame}/close-up.jpg`, alt: `Frame ${frame}` }), el("figcaption", {}, `Frame ${frame}, ${when}. ${capitalize(text)}`));
    }),
  );
  const isBetween = frames.last_before !== null && shown.length === 2;
  setText(at("instant"), isBetween ? "The camera took no picture at the instant itself: it is worked out from how the gap closed between these two frames." : "");
}

at("print").addEventListener("click", () => print());
load().catch((error) => setText(at("message"), errorText(error)));
