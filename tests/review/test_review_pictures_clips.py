"""Exported clips hold every frame at its time, drawn on as asked, and say where one can't be read."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import pytest
from av.video.reformatter import ColorPrimaries, ColorRange, Colorspace, ColorTrc
from evidence_service import PLAY, EvidenceService
from striped_pictures import number_in_stripes, striped
from waiting import WAIT_S, wait_until

from downfield.api.context.context import context_of
from downfield.capture.footage import FootageFrame
from downfield.core.arrays import Image
from downfield.core.errors import BusyError
from downfield.core.scene import Scene
from downfield.game.published.game_topics import CallView
from downfield.game.records.entries import Snap
from downfield.review.evidence.evidence import PlayEvidence, play_span
from downfield.review.pictures.clips import CLIP_LIMITS, ClipWorker, encode_clip, scaled, shown_at
from downfield.review.pictures.painting import play_caption


@pytest.fixture
def service(tmp_path: Path) -> Iterator[EvidenceService]:
    made = EvidenceService(tmp_path / "a.db")
    made.footage_store.picture = lambda still: striped(still.frame)  # type: ignore[method-assign]
    made.play()
    yield made
    made.close()


def opened(content: bytes) -> list[tuple[float, Image]]:
    """Return when each picture of a clip is shown, seconds, and the picture."""
    with av.open(io.BytesIO(content), "r") as container:
        frames = [frame for frame in container.decode(video=0) if isinstance(frame, av.VideoFrame)]
        return [
            (float(frame.time or 0), np.asarray(frame.to_ndarray(format="bgr24", threads=1), np.uint8))
            for frame in frames
        ]


def clip_of(service: EvidenceService, query: str) -> Any:
    path = service.tackle().removesuffix("/frames")
    return service.client.get(f"{path}/clip.{query}")


def test_an_mp4_has_every_frame_at_its_time_and_names_game_play_and_call(service: EvidenceService) -> None:
    listed = service.client.get(service.tackle() + "?seconds=0.4").json
    answer = clip_of(service, "mp4?seconds=0.4&speed=0.5&plain=1")
    assert (answer.status, answer.headers["content-type"]) == (200, "video/mp4")
    name = f"downfield_{service.game}_play1_tackle-dark-22-light-50_0.4s_0.5x_plain.mp4"
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'
    pictures = opened(answer.body)
    frames = [one["frame"] for one in listed["frames"]]
    times = [2 * (one["t_ns"] - listed["frames"][0]["t_ns"]) / 1e9 for one in listed["frames"]]
    assert [time for time, _ in pictures[:-1]] == pytest.approx(times, abs=1e-4)
    assert [number_in_stripes(image) for _, image in pictures[:-1]] == frames
    assert pictures[0][1].shape == (90, 160, 3)
    assert pictures[-1][0] - pictures[-2][0] == pytest.approx(0.5, abs=1e-4)  # the last frame can be seen


def test_an_mp4_says_which_colors_it_is_in_and_comes_back_in_those_it_was_made_of() -> None:
    colors = [(0, 0, 230), (0, 200, 0), (230, 0, 0), (0, 200, 230), (240, 240, 240)]
    picture = np.repeat(np.array([colors], np.uint8), 32, axis=1).repeat(64, axis=0)
    content = encode_clip(iter([(0, picture), (33_000_000, picture)]), "mp4")
    with av.open(io.BytesIO(content), "r") as container:
        decoder = container.streams.video[0].codec_context
        told = decoder.colorspace, decoder.color_primaries, decoder.color_trc, decoder.color_range
    assert told == (Colorspace.ITU709, ColorPrimaries.BT709, ColorTrc.BT709, ColorRange.MPEG)
    shown = opened(content)[0][1]
    for number, color in enumerate(colors):
        assert np.abs(shown[20:40, 32 * number + 8 : 32 * number + 24].mean(axis=(0, 1)) - color).max() < 8, color


def test_words_stand_below_the_picture_unless_it_is_plain(service: EvidenceService) -> None:
    drawn = opened(clip_of(service, "mp4?seconds=0.1").body)
    assert drawn[0][1].shape[0] > 90
    assert drawn[0][1].shape[0] % 2 == 0
    assert drawn[0][1][92:].max() > 150
    assert number_in_stripes(drawn[3][1][:90]) == number_in_stripes(drawn[0][1][:90]) + 3
    assert len({image.shape for _, image in drawn}) == 1


def test_a_gif_is_small_and_in_slow_motion(service: EvidenceService) -> None:
    answer = clip_of(service, "gif?seconds=0.3&speed=0.5&plain=1")
    assert answer.headers["content-type"] == "image/gif"
    pictures = opened(answer.body)
    assert len(pictures) > 10
    assert min(after - before for (before, _), (after, _) in pairwise(pictures)) > 0.05
    shown = [number_in_stripes(image) for _, image in pictures[:-1]]
    assert shown == sorted(set(shown))


def test_a_frame_that_cant_be_read_is_shown_as_such_and_no_other_takes_its_place(
    service: EvidenceService, monkeypatch: pytest.MonkeyPatch
) -> None:
    decisive = service.client.get(service.tackle()).json["decisive"]
    whole = service.footage_store.pictures

    def damaged(stills: list[FootageFrame]) -> Iterator[Image | None]:
        for still, image in zip(stills, whole(stills), strict=True):
            yield None if still.frame == decisive else image

    monkeypatch.setattr(service.footage_store, "pictures", damaged)
    frames = [one["frame"] for one in service.client.get(service.tackle() + "?seconds=0.1").json["frames"]]
    pictures = opened(clip_of(service, "mp4?seconds=0.1&plain=1").body)[:-1]
    for frame, (_, image) in zip(frames, pictures, strict=True):
        if frame == decisive:
            assert number_in_stripes(image) == 0  # words on a dark ground
            assert image.max() > 100
        else:
            assert number_in_stripes(image) == frame
    monkeypatch.setattr(service.footage_store, "pictures", lambda stills: iter([None] * len(stills)))
    answer = clip_of(service, "mp4?plain=1")
    assert (answer.status, answer.json["code"]) == (404, "not_recorded")


def written(service: EvidenceService) -> PlayEvidence:
    """Return the evidence of the first play once its snap and calls are on the disk."""

    def kinds() -> set[str]:
        return {call["kind"] for call in service.client.get(f"/api/games/{service.game}/calls").json}

    wait_until(lambda: "tackle" in kinds(), "the call comes to the disk")
    found: PlayEvidence = context_of(service.app).evidence.find_play(service.store.games()[0], 1)
    return found


def play_clip(service: EvidenceService, query: str, play: int = 1) -> Any:
    return service.client.get(f"/api/games/{service.game}/plays/{play}/clip.{query}")


def test_a_play_is_saved_whole_from_before_the_snap_until_it_is_over(service: EvidenceService) -> None:
    written(service)
    answer = play_clip(service, "mp4?plain=1&speed=0.5")
    assert (answer.status, answer.headers["content-type"]) == (200, "video/mp4")
    name = f"downfield_{service.game}_play1_scrimmage_0.5x_plain.mp4"
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'
    pictures = opened(answer.body)[:-1]
    (play,) = service.client.get(f"/api/games/{service.game}/plays").json
    last_ns = max(scene.t_ns for scene in PLAY.scenes if scene.board == "on")
    last_ns = max([last_ns, *(call["t_ns"] for call in play["calls"])]) + 1_500_000_000
    shown = [scene for scene in PLAY.scenes if play["t_ns"] - 1_000_000_000 <= scene.t_ns <= last_ns]
    assert [number_in_stripes(image) for _, image in pictures] == [scene.frame for scene in shown]
    assert [time for time, _ in pictures] == pytest.approx(
        [2 * (one.t_ns - shown[0].t_ns) / 1e9 for one in shown], abs=1e-4
    )


def test_the_words_below_a_play_are_of_its_snap_and_near_a_call_of_the_call(service: EvidenceService) -> None:
    found = written(service)
    told = {still.frame: play_caption(1, found.marks(still), still) for still in found.stills}
    tackle = next(call for call in found.calls if call.kind == "tackle")
    first, decisive = found.stills[0], min(found.stills, key=lambda still: abs(still.t_ns - tackle.t_ns))
    assert told[first.frame][0].startswith("Play 1: 1st & 10")
    assert told[first.frame][0].endswith("dark 22 has the ball")
    assert "before the snap" in told[first.frame][1]
    assert told[decisive.frame][0].startswith("Play 1: dark 22 tackled by light 50")
    assert {len(lines) for lines in told.values()} == {2}
    drawn = opened(play_clip(service, "mp4?width=160").body)
    assert len({image.shape for _, image in drawn}) == 1
    assert drawn[0][1].shape[0] > 90


def test_a_play_there_is_not_or_that_lasts_too_long_is_refused_with_what_to_do(service: EvidenceService) -> None:
    written(service)
    answer = play_clip(service, "mp4", 2)
    assert (answer.status, answer.json["detail"]) == (404, "This game has no play 2: it has 1.")
    assert play_clip(service, "mp4", 0).status == 422
    answer = play_clip(service, "gif?speed=0.05")
    assert answer.status == 409
    assert "a GIF holds at most 30 s. Save it as a video, or a clip of one of its calls." in answer.json["detail"]


def test_a_call_added_by_hand_long_after_does_not_make_a_play_longer() -> None:
    snap = Snap("scrimmage", 10**10, "home", 1, 1, 10.0, 20.0, 1, "1st & 10")
    scenes = [Scene(n, 10**10 + n * 10**8, "on" if n < 30 else "off", ()) for n in range(60)]
    by_hand = CallView(
        id="manual:op-9", kind="penalty", verdict="called", standing="manual", text="", t_ns=10**11, clauses=()
    )
    span = play_span(snap, None, [by_hand], scenes)
    assert span == (9 * 10**9, 10**10 + 29 * 10**8 + 1_500_000_000)
    assert play_span(snap, 13 * 10**9, [], scenes)[1] == 13 * 10**9
    assert play_span(snap, None, [], [])[1] == 10**10 + 1_500_000_000


@pytest.mark.parametrize(
    "query", ["avi", "mp4?speed=0", "mp4?speed=2", "mp4?seconds=9", "mp4?draw=hats", "mp4?width=9"]
)
def test_impossible_clips_are_refused(service: EvidenceService, query: str) -> None:
    assert clip_of(service, query).status == 422


def test_few_clips_wait_and_the_others_may_retry() -> None:
    worker, go = ClipWorker(), threading.Event()
    threads = [threading.Thread(target=worker.run, args=(lambda: go.wait(WAIT_S),)) for _ in range(CLIP_LIMITS.waiting)]
    for thread in threads:
        thread.start()
    while worker._waiting._value:
        threading.Event().wait(0.01)
    with pytest.raises(BusyError, match="clips are being made"):
        worker.run(lambda: True)
    go.set()
    for thread in threads:
        thread.join(WAIT_S)
    assert worker.run(lambda: 7) == 7


def test_an_error_while_pictures_are_prepared_is_raised_and_ends_their_thread() -> None:
    def images() -> Iterator[tuple[int, Image]]:
        yield 0, np.zeros((20, 20, 3), np.uint8)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        encode_clip(images(), "mp4")
    assert not [thread for thread in threading.enumerate() if thread.name == "clip pictures"]


def test_pictures_are_scaled_to_even_edges_and_times_to_the_speed() -> None:
    assert scaled(np.zeros((1081, 1921, 3), np.uint8), 1280).shape == (720, 1280, 3)
    assert scaled(np.zeros((90, 160, 3), np.uint8), 1280).shape == (90, 160, 3)
    assert shown_at([100, 150, 300], 0.1) == [0, 500, 2000]


def decoded_png(body: bytes) -> Image:
    image = cv2.imdecode(np.frombuffer(body, np.uint8), cv2.IMREAD_COLOR)
    assert image is not None
    return np.asarray(image, np.uint8)


def test_a_picture_of_a_call_or_play_is_the_decisive_frame_with_words_below(service: EvidenceService) -> None:
    found = written(service)
    tackle = next(call for call in found.calls if call.kind == "tackle")
    path = service.tackle().removesuffix("/frames")
    decisive = service.client.get(service.tackle()).json["decisive"]
    assert found.last.frame == min(found.stills, key=lambda still: abs(still.t_ns - tackle.t_ns)).frame
    for address in (path, f"/api/games/{service.game}/plays/1"):
        answer = service.client.get(f"{address}/picture.png?plain=1")
        assert answer.headers["content-type"] == "image/png"
        image = decoded_png(answer.body)
        assert (image.shape, number_in_stripes(image)) == ((90, 160, 3), decisive)
        assert decoded_png(service.client.get(f"{address}/picture.png").body).shape[0] > 90


@pytest.mark.parametrize("form", ["mp4", "gif"])
def test_while_a_part_of_the_recording_is_missing_a_dark_picture_says_so(service: EvidenceService, form: str) -> None:
    decisive = service.client.get(service.tackle()).json["decisive"]
    gone = range(decisive - 40, decisive + 10)
    service.footage_store.missing = set(gone)
    listed = service.client.get(service.tackle() + "?seconds=1").json
    assert "no picture is kept of 50 frames, from " in listed["missing"]
    assert "The moment of the call is in this part; the decisive frame is the nearest one kept." in listed["missing"]
    assert listed["decisive"] in {decisive - 41, decisive + 10}
    pictures = opened(clip_of(service, f"{form}?seconds=1&plain=1").body)
    dark = [place for place, (_, image) in enumerate(pictures) if number_in_stripes(image) == 0]
    assert len(dark) == 1, "one picture says it"
    began, ended = (pictures[place][0] for place in (dark[0], dark[0] + 1))
    times = {scene.frame: scene.t_ns for scene in PLAY.scenes}
    lasted = (times[gone[-1] + 1] - times[gone[0]]) / 1e9
    assert ended - began == pytest.approx(lasted, abs=0.08)  # a GIF shows nothing for less than 0.066 s


def test_nothing_is_said_of_single_dropped_frames(service: EvidenceService) -> None:
    decisive = service.client.get(service.tackle()).json["decisive"]
    service.footage_store.missing = {decisive - 9, decisive + 3, decisive + 4}
    assert service.client.get(service.tackle()).json["missing"] == ""
    assert all(number_in_stripes(image) > 0 for _, image in opened(clip_of(service, "mp4?seconds=0.5&plain=1").body))
