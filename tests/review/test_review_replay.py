"""A replay shows exact frames, slower and closer, ends on the decisive one, and stamps what the call is."""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import av
import numpy as np
import pytest
from evidence_service import EvidenceService
from hypothesis import given
from hypothesis import strategies as st
from painted_scenes import play, scene, tackle
from striped_pictures import number_in_stripes, striped

from downfield.broadcast.replay.framing import HEIGHT_PX, PACE, WIDTH_PX, frame_call, shots
from downfield.broadcast.replay.highlights import choose_highlights
from downfield.broadcast.replay.replay_painting import stamp_text
from downfield.calibration.calibration import read_calibration
from downfield.capture.footage import CallMarks, FootageFrame
from downfield.capture.sources.file_sources import bundled_demo

MADE = read_calibration(bundled_demo().with_suffix(".calibration.json"))


@pytest.fixture
def service(tmp_path: Path) -> Iterator[EvidenceService]:
    made = EvidenceService(tmp_path / "a.db")
    made.footage_store.picture = lambda still: striped(still.frame)  # type: ignore[method-assign]
    made.play()
    yield made
    made.close()


def replay_of(service: EvidenceService) -> list[tuple[float, int]]:
    """Return when each picture of the tackle's replay is shown, seconds, and which frame it is."""
    answer = service.client.get(service.tackle().removesuffix("/frames") + "/replay.mp4")
    assert answer.status == 200, answer.body
    with av.open(io.BytesIO(answer.body), "r") as container:
        frames = [frame for frame in container.decode(video=0) if isinstance(frame, av.VideoFrame)]
    images = [np.asarray(frame.to_ndarray(format="bgr24", threads=1), np.uint8) for frame in frames]
    assert {image.shape for image in images} == {(HEIGHT_PX, WIDTH_PX, 3)}
    # Without a calibration the camera's picture fills the replay.
    small = [image[:: HEIGHT_PX // 90, :: WIDTH_PX // 160] for image in images]
    return [(float(frame.time or 0), number_in_stripes(one)) for frame, one in zip(frames, small, strict=True)]


def test_a_replay_ends_on_the_first_frame_at_or_after_the_decisive_instant(service: EvidenceService) -> None:
    listed = service.client.get(service.tackle()).json
    call = next(one for one in service.game_service.calls() if one.kind == "tackle")
    after = next(one["frame"] for one in listed["frames"] if one["t_ns"] >= call.t_ns)
    shown = replay_of(service)
    frames = [frame for _, frame in shown if frame]
    assert frames == sorted(frames)
    assert frames[-1] == after
    assert len(set(frames)) > 30  # every frame of its last second
    assert shown[-1][0] - next(at for at, frame in shown if frame == after) > PACE.hold_s


def test_a_frame_that_cant_be_read_is_passed_over(service: EvidenceService, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = service.footage_store.pictures
    lost = next(one["frame"] for one in service.client.get(service.tackle()).json["frames"])

    def damaged(stills: list[FootageFrame]) -> Iterator[object]:
        for still, image in zip(stills, whole(stills), strict=True):
            yield None if still.frame % 2 == lost % 2 else image

    monkeypatch.setattr(service.footage_store, "pictures", damaged)
    assert {frame % 2 for _, frame in replay_of(service) if frame} == {1 - lost % 2}
    monkeypatch.setattr(service.footage_store, "pictures", lambda stills: iter([None] * len(stills)))
    other = next(one for one in service.game_service.calls() if one.kind != "tackle" and one.frame is not None)
    answer = service.client.get(f"/api/games/current/calls/{other.id}/replay.mp4")
    assert (answer.status, answer.json["code"]) == (404, "not_recorded")


@given(st.lists(st.integers(1, 60_000_000), min_size=1, max_size=200), st.integers(0, 10**15))
def test_a_replay_never_goes_back_and_slows_down_toward_the_end(steps: list[int], start: int) -> None:
    times = [start + sum(steps[:count]) for count in range(len(steps) + 1)]
    made = shots(times)
    assert all(before.shown_ns < after.shown_ns for before, after in pairwise(made))
    assert all(before.approach <= after.approach + 1e-9 for before, after in pairwise(made))
    assert all(before.place <= after.place for before, after in pairwise(made))
    assert [shot.place for shot in made[: len(times)]] == list(range(len(times)))
    speeds = [shot.speed for shot in made]
    assert speeds == sorted(speeds, reverse=True)
    assert (made[0].shown_ns, made[-1].stamp, made[-1].approach) == (0, 1.0, 1.0)


def test_the_view_closes_in_on_the_figures_and_never_leaves_them() -> None:
    call = tackle().model_copy(update={"players": ("dark-28", "light-24")})
    marks = CallMarks(call, scene())
    framing = frame_call(marks, MADE, 5.0)
    corners = np.concatenate([figure.footprint.corners_mm() for figure in marks.figures])
    widths = []
    for approach in np.linspace(0, 1, 11).tolist():
        region = framing.region(approach)
        assert region.size_px == (WIDTH_PX, HEIGHT_PX)
        pixels = region.pixels(corners)
        assert (pixels > 0).all()
        assert (pixels < (WIDTH_PX, HEIGHT_PX)).all()
        assert np.allclose(region.board_mm(pixels), corners)
        widths.append(region.width_mm)
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < 0.4 * widths[0]


def test_a_call_that_names_nothing_on_the_board_is_seen_from_afar() -> None:
    framing = frame_call(CallMarks(tackle("penalty", None).model_copy(update={"players": ()}), None), MADE, 5.0)
    assert framing.region(0.0).size_px == framing.region(1.0).size_px == (WIDTH_PX, HEIGHT_PX)
    assert framing.region(1.0).width_mm == framing.region(0.0).width_mm


def test_highlights_are_the_greatest_plays_in_the_order_they_were_played() -> None:
    short = tackle(spot_yd=(31.0, 20.0)).model_copy(update={"frame": 7})
    far = tackle(spot_yd=(72.0, 20.0)).model_copy(update={"frame": 9})
    score = short.model_copy(update={"kind": "touchdown"})
    taken_back = score.model_copy(update={"standing": "struck"})
    put_in_place = score.model_copy(update={"standing": "overturned"})
    plays = [play(1, far), play(2, short), play(3, taken_back), play(4, short, score), play(5)]
    chosen = choose_highlights(plays)
    assert [(one.play.number, one.call.kind) for one in chosen] == [(1, "tackle"), (4, "touchdown")]
    assert [one.play.number for one in choose_highlights(plays, most=1)] == [4]
    assert [one.play.number for one in choose_highlights([play(2, short)])] == [2]  # a game without any great play
    assert choose_highlights([play(5)]) == []
    assert [one.call for one in choose_highlights([play(6, put_in_place)])] == [put_in_place]  # by a person


def test_a_film_shows_every_highlight_at_real_speed_and_again(service: EvidenceService) -> None:
    answer = service.client.get("/api/games/current/highlights.mp4")
    assert (answer.status, answer.headers["content-type"]) == (200, "video/mp4")
    with av.open(io.BytesIO(answer.body), "r") as container:
        times = [float(frame.time or 0) for frame in container.decode(video=0)]
    assert times == sorted(times)
    assert times[-1] > 8  # the title, the play and its replay
    service.footage_store.pictures = lambda stills: iter([None] * len(list(stills)))  # type: ignore[method-assign]
    answer = service.client.get("/api/games/current/highlights.mp4")
    assert (answer.status, answer.json["code"]) == (404, "not_recorded")
    assert service.client.get("/api/games/current/highlights.mp4").status == 404  # the first has released its place


@pytest.mark.parametrize(
    ("changes", "headline", "detail"),
    [
        ({}, "TACKLE", ""),
        ({"words": "touched: gap closed"}, "TACKLE", "touched: gap closed"),
        ({"verdict": "too_close", "standing": "open", "probability": 0.67}, "TOO CLOSE TO CALL", "67 % tackle"),
        ({"verdict": "too_close", "standing": "confirmed", "probability": 0.67}, "TACKLE", "67 % sure"),
        ({"verdict": "proposed", "standing": "open"}, "TACKLE?", "the operator decides"),
        ({"standing": "overturned"}, "TACKLE: OVERTURNED", "by the operator"),
    ],
)
def test_the_stamp_says_what_stands(changes: dict[str, object], headline: str, detail: str) -> None:
    plain = tackle().model_copy(update={"words": "", "measured": "", "probability": 1.0})
    assert stamp_text(plain.model_copy(update=changes)) == (headline, detail)
