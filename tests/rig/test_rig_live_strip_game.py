"""A rig over a strip: a clip is read, compared with the game, and asked about; bad pictures are refused in one line."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from strip_readings import reading_of

from downfield.calibration.calibration import Calibration, write_calibration
from downfield.core.arrays import Image
from downfield.core.errors import CalibrationError, RefusedError
from downfield.core.frame import Frame
from downfield.core.strip import StripSet, load_strip
from downfield.game.published.hub import Hub
from downfield.game.published.stream_topics import StripQuestion, StripView
from downfield.game.records.commands import KeepGame
from downfield.game.strip.strip_follower import view_of
from downfield.game.strip.strip_moves import StripFacts, facts_of_reading
from downfield.officiating.declarations import SetUp
from downfield.officiating.events import Event, EventsHeader, write_events
from downfield.rig.configuration.loading import load
from downfield.rig.live import strip_game
from downfield.rig.live.strip_game import StripReadings, StripTopic, StripVision
from downfield.rig.rig import Rig
from downfield.twin.film.film import ClipWriter
from downfield.twin.strip.clip import StripFilm, StripMoment
from downfield.twin.strip.look import StripLook, draw_look, set_to
from downfield.vision.strip.dial_reader import UNDER_REFLECTION, DialReading
from downfield.vision.strip.strip_calibration import CalibratedStrip

STRIP = load_strip()
STEP_NS = 200_000_000
NUMBERS = {"home": 14, "away": 7, "down": 2, "quarter": 2, "minutes": 11, "seconds": 40}


@cache
def look() -> StripLook:
    return draw_look(STRIP, 2, split="test", size=(1280, 720))


@cache
def picture(slide_yd: float) -> Image:
    state = set_to(look().strip, slide_yd, "left", NUMBERS)  # type: ignore[arg-type]
    return next(StripFilm(look()).film([StripMoment((0,), state)])).image


@cache
def noise() -> Image:
    return np.random.default_rng(0).integers(0, 4, (720, 1280, 3)).astype(np.uint8)


def noisy(image: Image, number: int) -> Image:
    return np.asarray(cv2.add(image, np.roll(noise(), number, axis=1)), dtype=np.uint8)


def frames(slide_yd: float, count: int, start: int = 0) -> list[Frame]:
    """Return pictures of one state; a real camera's noise never repeats."""
    return [Frame(k, k * STEP_NS, noisy(picture(slide_yd), k)) for k in range(start, start + count)]


def calibration() -> Calibration:
    return Calibration(look().strip.field, look().camera, "truth")


def write_film(folder: Path, pictures: list[Frame], game: SetUp) -> Path:
    """Write a clip with its calibration and one set-up; return the configuration's file."""
    clip = folder / "film.mp4"
    with ClipWriter(clip, (1280, 720), 5.0, crf=16) as writer:
        for frame in pictures:
            writer.add(frame.image, frame.t_ns)
    write_calibration(folder / "film.calibration.json", calibration())
    write_events(folder / "film.events.jsonl", EventsHeader(), (Event("set-up", 0, "operator", game),))
    config = folder / "film.toml"
    config.write_text(
        f"data = '{folder}'\n[source]\nname = '{clip}'\n[calibration]\nstrip = 'nfl-strategy'\n"
        "[game]\nrulebook = 'nfl-strategy'\n[service]\non = false\n"
    )
    return config


def test_a_filmed_strip_is_followed_and_a_slide_two_yards_off_is_asked_about(tmp_path: Path) -> None:
    game = SetUp("home", 1, 36.0, down=2, distance_yd=7.0, period=2, clock_s=700.0, score=(14, 7), hash="left")
    config = write_film(tmp_path, [*frames(36.0, 6), *frames(34.0, 18, 6)], game)
    seen: list[StripView] = []
    rig = Rig(load(config, environment={}), tmp_path, paced=False)
    try:
        hub: Any = rig._hub
        publish = hub.publish

        def listen(topic: str, data: Any, **more: Any) -> None:
            if topic == "strip":
                seen.append(data)
            publish(topic, data, **more)

        hub.publish = listen
        rig.play()
        question = seen[-1].question
        assert question is not None
        rig._controller.do(KeepGame(question=question.id))
        with pytest.raises(RefusedError, match="not open"):
            rig._controller.do(KeepGame(question=question.id))
    finally:
        rig.close()
    assert "agrees" in [view.status for view in seen]
    assert question.text == "The slide says H 34; the game says H 36: which?"
    assert [answer.label for answer in question.answers] == ["Slide: H 34", "Game: H 36"]


def test_nothing_is_read_from_a_print_that_was_pushed_until_it_is_calibrated_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found: list[Image] = []

    def solved(images: list[Image], strip: StripSet, **_: Any) -> CalibratedStrip:
        found.append(images[0])
        lens = look().camera.lens
        moved = replace(lens, center_px=(lens.center_px[0] + 9, lens.center_px[1] + 6))
        return CalibratedStrip(strip, replace(calibration(), camera=replace(look().camera, lens=moved)))

    monkeypatch.setattr(strip_game, "calibrate_strip", solved)
    readings = StripReadings()
    vision = StripVision(STRIP, calibration(), readings, live=False)
    pushed = [replace(frame, image=np.roll(frame.image, (6, 9), axis=(0, 1))) for frame in frames(36.0, 14, 6)]
    read = []
    for frame in [*frames(36.0, 6), *pushed]:
        vision.update(frame, tuple)
        read.append(readings.pop(frame.index))
    yards = [reading.yard() for reading in read if reading is not None]
    assert set(yards) <= {36, None}
    assert yards[-1] == 36
    assert len(found) == 1


def test_readings_of_dropped_frames_are_skipped() -> None:
    readings = StripReadings()
    vision = StripVision(STRIP, calibration(), readings, live=False)
    for frame in frames(36.0, 3):
        vision.update(frame, tuple)
    assert readings.pop(1) is not None
    assert readings.pop(0) is None
    assert readings.pop(2) is not None
    assert readings.pop(2) is None


def test_each_question_is_told_once_to_whoever_watches_the_terminal() -> None:
    told: list[tuple[str, str]] = []
    topic = StripTopic(Hub(), lambda level, text: told.append((level, text)))
    view = StripView(status="differs", text="", question=StripQuestion(id="strip-1", text="Which?", answers=()))
    for _ in range(3):
        topic.publish(view)
    assert told == [("warning", "Which? Answer on the panel.")]


def test_a_dial_under_a_reflection_is_told_once_with_what_to_do() -> None:
    told: list[str] = []
    topic = StripTopic(Hub(), lambda _level, text: told.append(text))
    reading = reading_of(StripFacts(34, "left", {"down": 2, "quarter": 2, "seconds": 40, "home": 0, "away": 7}), 0)
    dials = tuple(
        DialReading(None, reason=UNDER_REFLECTION) if dial.counts == "minutes" else read
        for dial, read in zip(STRIP.dials, reading.dials, strict=True)
    )
    for hidden in (dials, reading.dials, dials):
        seen = replace(reading, dials=hidden)
        topic.publish(view_of(seen, facts_of_reading(seen), STRIP, "agrees", ""))
    (only,) = told
    assert only == (
        "A reflection hides the minute on its dial: tilt the lamp, or lower the camera's exposure. Until then the"
        " game's own counts, and the dial is not checked."
    )


def test_a_recording_without_a_strip_is_refused_in_one_line(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    grain = [Frame(k, k * STEP_NS, rng.integers(90, 120, (720, 1280, 3)).astype(np.uint8)) for k in range(3)]
    config = write_film(tmp_path, grain, SetUp("home", 1, 36.0))
    (tmp_path / "film.calibration.json").unlink()
    with pytest.raises(CalibrationError, match=r"film\.mp4: can't be calibrated from the strip") as refused:
        Rig(load(config, environment={}), tmp_path)
    assert "\n" not in str(refused.value)
