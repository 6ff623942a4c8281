"""A source is opened again a moment after it was closed: a camera with room for one viewer may still refuse."""

from __future__ import annotations

import pytest

from downfield.capture.problems import ActiveProblems
from downfield.capture.source import CaptureClock
from downfield.capture.sources import source_opening
from downfield.capture.sources.source_opening import reopen_source
from downfield.capture.sources.source_types import SourceChoice
from downfield.core.errors import InputError, SourceError

PAUSES_S = (0.0, 0.0, 0.0)


def refusing(monkeypatch: pytest.MonkeyPatch, *refusals: Exception) -> list[str]:
    """Have sources refuse to open with each of some errors in turn, and return what was opened, and tried."""
    waiting, tried = list(refusals), list[str]()

    def open_source(choice: SourceChoice, _clock: object, _problems: object) -> str:
        tried.append(choice.text)
        if waiting:
            raise waiting.pop(0)
        return f"opened {choice.text}"

    monkeypatch.setattr(source_opening, "open_source", open_source)
    return tried


def reopened(text: str) -> object:
    return reopen_source(SourceChoice(text), CaptureClock(), ActiveProblems(), PAUSES_S)


def test_a_live_camera_that_still_has_a_viewer_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = refusing(monkeypatch, SourceError("503"), SourceError("503"))
    assert reopened("http://camera/stream") == "opened http://camera/stream"
    assert len(tried) == 3


def test_a_camera_that_is_gone_is_given_up_with_its_own_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = refusing(monkeypatch, *(SourceError(f"refused {number}") for number in range(9)))
    with pytest.raises(SourceError, match="refused 3"):
        reopened("rtsp://camera/stream")
    assert len(tried) == len(PAUSES_S) + 1


@pytest.mark.parametrize(("text", "error"), [("clip.mp4", InputError("no such file")), ("twin", SourceError("ended"))])
def test_what_no_waiting_helps_is_refused_at_once(monkeypatch: pytest.MonkeyPatch, text: str, error: Exception) -> None:
    tried = refusing(monkeypatch, error)
    with pytest.raises(type(error)):
        reopened(text)
    assert tried == [text]
