"""What began between two scenes: no call in force is wrong by more than it says, wherever scenes are missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import pytest
from scripted_plays import FIELD, ScriptedFigure, film, only_call, opening, runs, stands

from downfield.capture.sources.file_sources import bundled_demo, open_clip
from downfield.core.field.model import FieldModel
from downfield.core.scene import Contact, Scene
from downfield.officiating.calls import Call
from downfield.officiating.declarations import Switch
from downfield.officiating.engine.judged_game import JudgedGame
from downfield.officiating.engine.recording import judge_recording
from downfield.officiating.events import Event, Tick
from downfield.officiating.rulebooks.rulebook import load_rulebook

RUNNER, DEFENDER = "dark-22", "light-50"
BOOKS = ("tap", "efl", "lions-den", "nfl-strategy")
GAPS_S = (0.2, 0.35, 0.55, 0.65, 1.3)
_KINDS = frozenset({"tackle", "fumble", "sack", "down_by_fall", "out_of_bounds", "touchdown", "line_of_scrimmage"})
_SIGMAS, _FRAME_S, _NEAR_YD = 2.5, 0.05, 0.3


@dataclass(frozen=True)
class Recorded:
    """A play with all of its scenes."""

    scenes: tuple[Scene, ...]
    events: tuple[Event, ...]
    field: FieldModel = FIELD


def scripted(name: str) -> Recorded:
    """A tackle, a score, a step out of bounds, a fall, a fumble; the camera alone tells when the board runs."""
    runner = {
        "score": ScriptedFigure(RUNNER, runs(90, stop_s=2.0), "RB"),
        "out": ScriptedFigure(RUNNER, runs(41, 50, heading=40, stop_s=2.4), "RB"),
        "fall": ScriptedFigure(RUNNER, runs(38, stop_s=1.4), "RB", falls_s=1.4),
        "fumble": ScriptedFigure(RUNNER, runs(38, stop_s=1.12), "RB", falls_s=1.4),
        "late fall": ScriptedFigure(RUNNER, runs(38, stop_s=1.12), "RB", falls_s=1.6),
    }.get(name, ScriptedFigure(RUNNER, runs(38, stop_s=1.12), "RB"))
    defender = stands(47.0) if name in {"tackle", "fumble", "late fall"} else stands(60.0, 5.0)
    play = film([runner, ScriptedFigure(DEFENDER, defender, "LB")], 3.5, on=((0.5, 2.6),), fps=30)
    line_yd = 92.0 if name == "score" else 40.0
    declared = opening(play, RUNNER, line_yd=line_yd)
    events = tuple(Event(f"e{n}", round(t_s * 1e9), "operator", body) for n, (t_s, body) in enumerate(declared))
    return Recorded(play.scenes, events)


@cache
def twin(camera: bool) -> Recorded:
    """Return two plays of the twin with stops, its switch declared or as a camera sees it."""
    clip = open_clip(bundled_demo())
    events = tuple(one for one in clip.events if not (camera and isinstance(one.body, Switch)))
    return Recorded(tuple(clip.tracks), events, clip.calibration.field)


def without(scenes: Sequence[Scene], begins_ns: int, ends_ns: int) -> tuple[Scene, ...]:
    """Return scenes of which some are missing; a contact that began then is dated to the first scene after."""

    def began_then(one: Contact) -> bool:
        return one.since_ns is not None and begins_ns < one.since_ns < ends_ns

    return tuple(
        replace(
            scene, contacts=tuple(replace(one, since_ns=ends_ns) if began_then(one) else one for one in scene.contacts)
        )
        if scene.t_ns >= ends_ns and any(map(began_then, scene.contacts))
        else scene
        for scene in scenes
        if not begins_ns < scene.t_ns < ends_ns
    )


def judged(play: Recorded, book: str, *, live: bool = False) -> list[Call]:
    """Return the calls in force that something measured decides, judged as a file or entry by entry."""
    if live:
        game = JudgedGame(load_rulebook(book), play.field)
        entries: list[Event | Scene] = [*play.events, *play.scenes]
        for entry in sorted(entries, key=lambda one: (one.t_ns, isinstance(one, Scene))):
            game.apply(entry)
        game.apply(Event("end", play.scenes[-1].t_ns + 6_000_000_000, "clock", Tick()))
        calls: Sequence[Call] = game.calls
    else:
        calls = judge_recording(play.scenes, play.events, load_rulebook(book), play.field).calls
    return [call for call in calls if call.verdict == "called" and call.kind in _KINDS]


def is_one_of(call: Call, true: Sequence[Call]) -> bool:
    """Return whether a call is one of all the scenes, within the errors that it states."""
    for one in true:
        if (one.kind, one.players) != (call.kind, call.players):
            continue
        if abs(one.t_ns - call.t_ns) / 1e9 > max(_SIGMAS * call.t_sigma_s, _FRAME_S):
            continue
        if call.spot_yd is None or one.spot_yd is None:
            return True
        if abs(one.spot_yd[0] - call.spot_yd[0]) <= max(_SIGMAS * call.spot_sigma_yd[0], _NEAR_YD):
            return True
    return False


def wrong(play: Recorded, book: str, low_s: float, high_s: float, step_s: float, *, live: bool = False) -> list[str]:
    """Return the wrong calls of all gaps that begin between two times."""
    true, found = judged(play, book), list[str]()
    for gap_s in GAPS_S:
        for number in range(round((high_s - low_s) / step_s)):
            begins_ns = round((low_s + number * step_s) * 1e9)
            ends_ns = begins_ns + round(gap_s * 1e9)
            calls = judged(replace(play, scenes=without(play.scenes, begins_ns, ends_ns)), book, live=live)
            found += [f"{gap_s} s from {begins_ns / 1e9:.2f} s: {one}" for one in calls if not is_one_of(one, true)]
    return found


@pytest.mark.parametrize("name", ["tackle", "score", "out", "fall", "fumble", "late fall"])
@pytest.mark.parametrize("book", BOOKS)
def test_no_call_is_wrong_wherever_scenes_are_missing(name: str, book: str) -> None:
    play = scripted(name)
    assert not wrong(play, book, 0.2, 2.0, 0.15)


def test_a_live_game_is_as_careful() -> None:
    assert not wrong(scripted("tackle"), "tap", 0.2, 1.6, 0.2, live=True)


@pytest.mark.parametrize("camera", [False, True])
@pytest.mark.parametrize(("low_s", "high_s"), [(6.9, 7.1), (8.0, 9.3)])
def test_a_play_of_the_twin_with_a_stop_is_never_called_wrong(camera: bool, low_s: float, high_s: float) -> None:
    whole = twin(camera)
    part = replace(whole, scenes=tuple(one for one in whole.scenes if 6.0e9 < one.t_ns < 12e9))
    assert not wrong(part, "tap", low_s, high_s, 0.1)


def test_a_switch_that_flickers_does_not_stop_the_board() -> None:
    """The camera still says that it is off just after it came on, and then that it is on."""
    play = scripted("tackle")
    true = judged(play, "tap")
    for off_s in (0.53, 1.0):  # just after it came on, and later for one frame
        scenes = tuple(replace(one, board="off") if abs(one.t_ns / 1e9 - off_s) < 0.02 else one for one in play.scenes)
        calls = judged(replace(play, scenes=scenes), "tap")
        assert [(one.id, one.verdict) for one in calls] == [(one.id, one.verdict) for one in true]


def test_what_the_reason_says() -> None:
    play = scripted("score")
    crossed_ns = next(one.t_ns for one in judged(play, "tap") if one.kind == "touchdown")
    scenes = without(play.scenes, crossed_ns - 300_000_000, crossed_ns + 200_000_000)
    call = only_call(judge_recording(scenes, play.events, load_rulebook("tap"), FIELD), "touchdown")
    assert (call.verdict, call.t_sigma_s > 0.1) == ("too_close", True)
    assert "no pictures tell when" in call.conditions[-1].words()


def test_who_falls_just_after_a_time_without_pictures_may_have_been_tackled_in_it() -> None:
    play = scripted("fall")
    assert any(one.kind == "down_by_fall" for one in judged(play, "tap"))
    scenes = without(play.scenes, 1_000_000_000, 1_250_000_000)
    call = only_call(judge_recording(scenes, play.events, load_rulebook("tap"), FIELD), "down_by_fall")
    assert call.verdict == "too_close"
    assert "whether dark-22 was touched" in call.conditions[0].words()
    long_before = without(play.scenes, 600_000_000, 850_000_000)
    assert any(one.kind == "down_by_fall" for one in judged(replace(play, scenes=long_before), "tap"))


@pytest.mark.parametrize(
    ("step", "sigma_mm"), [(1, 0.3), (3, 0.3), (1, 6.0)], ids=["watched", "few", "hardly measured"]
)
def test_an_opponent_close_by_may_have_touched_who_falls_where_pictures_hardly_tell(step: int, sigma_mm: float) -> None:
    play = scripted("fumble")
    apart = tuple(
        replace(
            scene,
            contacts=tuple(
                replace(one, gap_mm=2.0, sigma_mm=sigma_mm, probability=0.0, since_ns=None) for one in scene.contacts
            ),
        )
        for scene in play.scenes[::step]
    )
    call = only_call(judge_recording(apart, play.events, load_rulebook("tap"), FIELD), "down_by_fall")
    assert call.verdict == ("called" if step == 1 and sigma_mm < 1.0 else "too_close")


@pytest.mark.parametrize("hidden", [RUNNER, DEFENDER])
@pytest.mark.parametrize(("to_s", "verdict"), [(1.4, "called"), (9.0, "too_close")])
def test_who_was_hidden_after_a_contact_may_have_fallen(hidden: str, to_s: float, verdict: str) -> None:
    play = scripted("tackle")
    (true,) = (one for one in judged(play, "tap") if one.kind == "tackle")
    scenes = tuple(
        replace(
            scene,
            figures=tuple(
                replace(one, visible=0.0) if one.id == hidden and true.t_ns < scene.t_ns < to_s * 1e9 else one
                for one in scene.figures
            ),
        )
        for scene in play.scenes
    )
    call = only_call(judge_recording(scenes, play.events, load_rulebook("tap"), FIELD), "tackle")
    assert call.verdict == verdict
    told = f"no pictures tell who fell within its time: {hidden} not visible"
    assert (told in str([one.words() for one in call.conditions])) is (verdict == "too_close")
