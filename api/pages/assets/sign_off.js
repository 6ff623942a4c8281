// The end of a game on the operator's phone: both coaches sign the final score, each with a name and a tap.

import { el, refresh, setText } from "./dom.js";
import { AWAY_FIRST } from "./format.js";
import { errorText, send } from "./send.js";

/** The signatures under the score as it is now, by side. @param {{ signatures: Service.SignatureView[] }} signed @returns {Partial<Record<Side, Service.SignatureView>>} */
const currentSignatures = ({ signatures }) => Object.fromEntries(signatures.filter((signature) => signature.current).map((signature) => [signature.side, signature]));

/** Fill a section with both coaches' signatures; it follows the score. @param {HTMLElement} body @param {Feed} feed */
export function signOff(body, feed) {
  const problem = el("p", { class: "problem", role: "alert" });
  const coaches = el("div", { class: "two-coaches" });
  body.append(el("p", { class: "muted" }, "When both coaches have signed, the game is over. A coach who disagrees signs with a note."), coaches, problem);
  /** @type {Partial<Record<Side, Service.SignatureView>>} by side, as the service has them */
  let signed = {};
  const load = async () => {
    try {
      signed = currentSignatures(await send("api/games/current", null, { method: "GET" }));
    } catch {
      signed = {}; // no game is in play: signing is refused with that reason
    }
    draw();
  };
  const draw = () => {
    const game = feed.value("game");
    if (game === undefined) return;
    refresh(coaches, [game.game, game.score, signed], () => AWAY_FIRST.map((side) => coach(game, side)));
  };
  /** @param {Service.GameView} game @param {Side} side */
  const coach = (game, side) => {
    const score = el("p", { class: "final" }, `${game.away.name} ${game.score[1]}, ${game.home.name} ${game.score[0]}`);
    const signature = signed[side];
    if (signature !== undefined) {
      const { name, note } = signature;
      return el("div", { class: "plate" }, el("b", {}, `Signed for ${game[side].name}`), score, el("p", {}, note ? `${name} disagrees: ${note}` : `${name} agrees.`));
    }
    const name = el("input", { name: `name-${side}`, maxlength: 60, autocomplete: "off", required: true });
    const note = el("textarea", { name: `note-${side}`, maxlength: 500, rows: 1, placeholder: "Only if you disagree" });
    const button = el("button", { type: "submit", class: "go" }, `Sign for ${game[side].name}`);
    const form = el("form", { class: "plate" }, el("b", {}, game[side].name), score, el("label", {}, "Coach's name", name), el("label", {}, "Note", note), button);
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      button.disabled = true;
      setText(problem, "");
      try {
        /** @type {Service.SignOff} */
        const done = await send(`api/games/${encodeURIComponent(game.game)}/signatures`, { side, name: name.value.trim(), score: game.score, note: note.value.trim() });
        signed = currentSignatures(done);
        if (done.closed) body.replaceChildren(el("p", {}, el("b", {}, "Both coaches have signed. The game is over.")), el("a", { class: "button", href: `game?game=${encodeURIComponent(done.game)}` }, "Look at the game"));
        else draw();
      } catch (error) {
        setText(problem, errorText(error));
        button.disabled = false;
      }
    });
    return form;
  };
  feed.on("game", draw);
  load();
}
