"""What a ruling changes is told in few lines, however many reports about line-ups go with it."""

from __future__ import annotations

from dataclasses import replace

from painted_scenes import tackle

from downfield.game.receipts import Accepted
from downfield.review.rejudging.changes import receipt_lines


def test_reports_about_line_ups_that_go_are_one_line() -> None:
    gone = [
        tackle("formation").model_copy(update={"id": f"formation:{number}", "verdict": "reported", "text": "stacked"})
        for number in range(46)
    ]
    down = tackle("first_down").model_copy(update={"id": "first_down:1", "text": "first down"})
    receipt = Accepted(event="e9", t_ns=0, text="H 0, A 0 | H ball", withdrawn=tuple(call.id for call in (*gone, down)))
    assert receipt_lines([*gone, down], (), receipt) == (
        "No longer called: first down.",
        "46 reports about line-ups no longer apply.",
        "Now: H 0, A 0, H ball",
    )
    one = replace(receipt, withdrawn=(gone[0].id,))
    assert receipt_lines(gone, (), one)[0] == "1 report about line-ups no longer applies."
