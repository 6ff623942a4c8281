// The end of a game on the operator's phone: both coaches sign the final score, each with a name and a tap.

import { el, refresh, setText } from "./dom.js";
import { errorText, send } from "./send.js";

/** Fill a section with both coaches' signatures; it follows the score. */
export function signOff(body, feed) {
  const problem = el("p", { class: "problem", role: "alert" });
  const coaches = el("div", { class: "two-coaches" });
  body.append(el("p", { class: "muted" }, "When both coaches have signed, the game is over. A coach who disagrees signs with a note."), coaches, problem);
  let signed = {}; // by side, as the service has them
  const load = async () => {
    try {
      const game = await send("api/games/current", null, { method: "GET" });
      signed = Object.fromEntries(game.signatures.filter((signature) => signature.current).map((signature) => [signature.side, signature]));
    } catch {
      signed = {}; // no game is in play: the coaches' fields say so when they are sent
    }
    draw();
  };
  const draw = () => {
    const game = feed.value("game");
    if (game === undefined) return;
    refresh(coaches, [game.game, game.score, signed], () => ["away", "home"].map((side) => coach(game, side)));
  };
  const coach = (game, side) => {
    const score = el("p", { class: "final" }, `${game.away.name} ${game.score[1]}, ${game.home.name} ${game.score[0]}`);
    if (signed[side]) {
      const { name, note } = signed[side];
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
        const done = await send(`api/games/${encodeURIComponent(game.game)}/signatures`, { side, name: name.value.trim(), score: game.score, note: note.value.trim() });
        signed = Object.fromEntries(done.signatures.filter((signature) => signature.current).map((signature) => [signature.side, signature]));
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
