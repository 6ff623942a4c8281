"""Names written from right to left on the pages: in a sentence they keep to themselves, alone they stay as they are."""

from __future__ import annotations

from pathlib import Path

from browsers import PageServer, browser, page_in

from downfield.review.reports.markup import isolate_names

ENDED = "Ended: Oakdale 7, הפועל ירושלים 3"


def test_a_score_beside_a_name_from_right_to_left_stays_on_its_side(tmp_path: Path) -> None:
    service = PageServer(tmp_path)
    service.start()
    try:
        with browser() as chrome, page_in(chrome, phone=True) as page:
            page.goto(f"{service.url}/games")
            places = page.evaluate(
                """async (texts) => {
                  const { el, setText } = await import("/assets/dom.js");
                  const [sentence, name] = texts.map((text) => el("p", {}, text));
                  const again = el("p", {}, "");
                  setText(again, texts[0]);
                  document.body.append(sentence, name, again);
                  const left = (text) => {
                    const range = document.createRange();
                    const at = sentence.textContent.indexOf(text);
                    range.setStart(sentence.firstChild, at);
                    range.setEnd(sentence.firstChild, at + text.length);
                    return range.getBoundingClientRect().left;
                  };
                  return [sentence.textContent, name.textContent, again.textContent, left("הפועל ירושלים"), left("3")];
                }""",
                [ENDED, "הפועל ירושלים"],
            )
    finally:
        service.stop()
    sentence, name, again, name_left, score_left = places
    assert sentence == again == isolate_names(ENDED)
    assert name == "הפועל ירושלים"
    assert score_left > name_left  # not before the name, where it would read as Oakdale's
