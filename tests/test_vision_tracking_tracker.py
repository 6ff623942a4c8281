from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated_detector import PERFECT, Faults, Network, calibration_of
from tracked_tables import (
    BASE,
    FIELD,
    LINE_UP_S,
    Place,
    Table,
    Tracked,
    filmed,
    hand_at,
    look_of,
    standing,
    switches,
    tracked,
    tracked_with,
    walking,
)

from downfield.twin.snapshot import HandPose
from downfield.vision.scene_builder import figure_of
from downfield.vision.tracking.measurement import measure

FOUR = {
    "dark-1": standing(300, 200, 0),
    "dark-2": standing(300, 260, 0),
    "light-1": standing(345, 200, 180),
    "light-2": standing(345, 260, 180),
}


@settings(max_examples=12, deadline=None)
@given(
    st.floats(60, 800),
    st.floats(40, 400),
    st.floats(-180, 180),
)
def test_a_base_seen_without_error_is_measured_where_it_stands(x_mm: float, y_mm: float, heading: float) -> None:
    table = Table({"dark-1": standing(x_mm, y_mm, heading)}, 0.0)
    sight = filmed(table)[0][0]
    seen = measure(Network(PERFECT).see(sight), calibration_of(sight, look_of(table.players)), BASE.height_mm)
    x, y, turn, length, width = seen.pose[0]
    assert math.hypot(x - x_mm, y - y_mm) < 0.05
    assert abs(math.remainder(turn - math.radians(heading), 2 * math.pi)) < 0.01
    assert abs(length - BASE.length_mm) < 0.1
    assert abs(width - BASE.width_mm) < 0.1


def test_measured_errors_are_as_large_as_they_are_said_to_be() -> None:
    table = Table({"dark-1": standing(300, 200, 20), "light-1": standing(600, 300, -130)}, 0.0)
    sight = filmed(table)[0][0]
    calibration = calibration_of(sight, look_of(table.players))
    distances = []
    for seed in range(150):
        quiet = Faults(miss=0.0, flip=0.0, double=0.0, false=0.0, wild=0.0, mistake=0.0)
        seen = measure(Network(quiet, seed).see(sight), calibration, BASE.height_mm)
        for pose, cov in zip(seen.pose, seen.covariance, strict=True):
            truth = (300, 200, math.radians(20)) if pose[0] < 450 else (600, 300, math.radians(-130))
            off = pose[:3] - truth
            distances.append(off @ np.linalg.solve(cov[:3, :3], off))
    assert 2.3 < np.mean(distances) < 3.9  # chi squared of 3


def test_two_sigma_holds_what_it_says_while_figures_walk() -> None:
    paths = {
        f"{team}-{i}": walking(250 + 300 * (team == "light"), 60 + 70 * i, 180 * (team == "light") + 7 * i, 55)
        for team in ("dark", "light")
        for i in range(5)
    }
    within, turned = [], []
    for seed in (1, 2):
        for frame in tracked(Table(paths, 2.0), seed=seed):
            for id_, estimate in frame.seen.items():
                if estimate.seen:
                    x, y, _ = frame.truth[id_]
                    sigma = np.sqrt(np.diag(estimate.covariance))
                    within += [abs(estimate.footprint.x_mm - x) < 2 * sigma[0]]
                    within += [abs(estimate.footprint.y_mm - y) < 2 * sigma[1]]
                    turned += [math.radians(frame.turn_deg(id_)) < 2 * sigma[2]]
    assert 0.92 < np.mean(within) < 0.99
    assert 0.92 < np.mean(turned) < 0.995


def test_figures_that_walk_past_each_other_stay_who_they_are() -> None:
    paths = {
        "dark-1": walking(300, 200, 0, 90),
        "light-1": walking(480, 221, 180, 90),
        "dark-2": walking(300, 242, 0, 60),
        "light-2": walking(480, 263, 180, 80),
    }
    frames = tracked(Table(paths, 2.0))
    assert switches(frames) == set()
    assert all(one.sure for frame in frames for one in frame.seen.values())
    assert np.median([frame.error_mm(id_) for frame in frames for id_ in paths]) < 0.4


def test_frames_that_are_not_looked_at_are_gone_on_to_as_figures_go() -> None:
    paths = {
        "dark-1": walking(300, 200, 0, 60),
        "light-1": walking(480, 221, 180, 60),
        "dark-2": walking(300, 242, 5, 40),
        "light-2": standing(480, 263, 180),
    }
    frames = tracked(Table(paths, 2.0, gone=lambda id_, t_s: id_ == "light-2" and t_s > 1.0), every=2)
    looked, between = frames[1::2], frames[2::2]
    assert all(one.fresh for frame in looked for one in frame.seen.values())
    assert not any(one.fresh for frame in between for one in frame.seen.values())
    for before, frame in zip(looked, between, strict=False):
        assert [one.seen for one in frame.seen.values()] == [one.seen for one in before.seen.values()]
    walkers = ("dark-1", "light-1", "dark-2")
    assert np.median([frame.error_mm(id_) for frame in between for id_ in walkers]) < 0.5
    assert frames[-1].seen["light-2"].posture == "unseen"
    assert switches([frame for frame in frames if frame.t_s < 1.0]) == set()


def test_a_fall_is_found_as_fast_in_half_as_many_looks() -> None:
    """What a look is worth goes by the time since the last one, not by frames."""
    table = Table(FOUR, 1.5, tilts={"dark-2": lambda t_s: float(np.clip((t_s - 0.6) / 0.15, 0, 1) * 85)})
    fell = [
        next(frame.t_s for frame in tracked(table, every=every) if frame.seen["dark-2"].posture == "fallen")
        for every in (1, 2)
    ]
    assert 0.6 < fell[0] <= fell[1] < fell[0] + 0.1


def test_no_figure_is_taken_from_the_roster_or_added_to_it() -> None:
    noisy = Faults(false=2.0, double=0.1, miss=0.1)
    frames = tracked(Table(FOUR, 2.0, gone=lambda id_, t_s: id_ == "light-2" and t_s > 1.0), noisy)
    assert all(tuple(frame.seen) == tuple(FOUR) for frame in frames)
    assert switches([frame for frame in frames if frame.t_s < 1.0]) == set()
    assert frames[-1].seen["light-2"].posture == "unseen"
    assert all(frame.error_mm(id_) < 2.0 for frame in frames for id_ in ("dark-1", "dark-2", "light-1"))


def test_a_figure_hidden_for_a_second_goes_on_with_growing_error_and_is_found_again() -> None:
    paths = {"dark-1": walking(300, 200, 0, 60), "dark-2": standing(300, 330), "light-1": standing(700, 300, 180)}

    def hidden(id_: str, t_s: float) -> bool:
        return id_ == "dark-1" and 1.0 < t_s < 2.0

    frames = tracked(Table(paths, 2.6, gone=hidden))
    during = [frame for frame in frames if 1.0 < frame.t_s < 2.0]
    spread = [float(frame.seen["dark-1"].covariance[0, 0]) for frame in during]
    assert spread == sorted(spread)
    assert during[-1].seen["dark-1"].posture == "unseen"
    assert during[-1].error_mm("dark-1") < 2 * math.sqrt(2 * spread[-1])
    assert frames[-1].error_mm("dark-1") < 1.0
    assert frames[-1].seen["dark-1"].sure


def test_who_is_not_seen_does_not_fly_on() -> None:
    """Missed for a moment it walks on; for longer it has met somebody, and most likely is about where it was."""
    table = Table(
        {"dark-1": walking(300, 300, 0, 80), "dark-2": standing(300, 500, 0), "light-1": standing(500, 300, 180)},
        2.0,
        gone=lambda id_, t_s: id_ == "dark-1" and t_s > 0.5,
    )
    frames = tracked(table)
    before = next(one for one in frames if one.t_s > 0.45).seen["dark-1"].footprint
    for one in frames:
        now = one.seen["dark-1"].footprint
        if one.t_s > 0.5:
            assert math.hypot(now.x_mm - before.x_mm, now.y_mm - before.y_mm) < 35  # of 120 that it would walk


def test_half_hidden_bases_are_placed_by_their_known_size() -> None:
    """An arm lies over the rear of a base for long: its corners there are guesses."""
    table = Table(FOUR, 1.5, hands=lambda t_s: (hand_at(292, 186),) if t_s > 0.3 else (), power=lambda _: False)
    frames = tracked(table, Faults(hidden_px=8.0), seed=4)
    late = [frame for frame in frames if frame.t_s > 0.8 and frame.seen["dark-1"].seen]
    assert all(frame.error_mm("dark-1") < 2.5 for frame in late)


def test_a_figure_turned_about_by_a_hand_faces_the_other_way() -> None:
    def path(t_s: float) -> Place:
        return (300, 200, 0.0 if t_s < 1.0 else 180.0)

    def hands(t_s: float) -> tuple[object, ...]:
        return (hand_at(300, 196, "dark-1"),) if 0.5 < t_s < 1.3 else ()

    frames = tracked(Table({**FOUR, "dark-1": path}, 2.2, power=lambda _: False, hands=hands))  # type: ignore[arg-type]
    assert frames[-1].turn_deg("dark-1") < 10
    assert frames[-1].seen["dark-1"].sure
    assert all(frame.turn_deg(id_) < 20 for frame in frames for id_ in ("dark-2", "light-2"))


def test_a_figure_lifted_and_put_back_elsewhere_is_itself_again_and_its_identity_in_doubt_only_when_far() -> None:
    for way_mm, sure in ((60.0, True), (250.0, False)):

        def path(t_s: float, way: float = way_mm) -> Place:
            return (300 if t_s < 1.0 else 300 - way, 200, 0.0)

        def gone(id_: str, t_s: float) -> bool:
            return id_ == "dark-1" and 0.6 < t_s < 1.4

        def hands(t_s: float) -> tuple[object, ...]:
            return (hand_at(300, 196, "dark-1"),) if 0.4 < t_s < 0.8 else ()

        frames = tracked(Table({**FOUR, "dark-1": path}, 2.4, power=lambda _: False, hands=hands, gone=gone))  # type: ignore[arg-type]
        assert any(frame.seen["dark-1"].posture == "lifted" for frame in frames if 0.6 < frame.t_s < 0.8)
        assert frames[-1].error_mm("dark-1") < 1.0
        assert frames[-1].seen["dark-1"].sure == sure
        assert all(frame.seen[id_].sure for frame in frames for id_ in ("light-1", "light-2"))


def test_what_flashes_up_beside_a_hand_is_not_the_figure_under_it() -> None:
    def path(t_s: float) -> Place:
        return (316 if 0.9 < t_s < 0.96 else 300, 200, 0.0)

    def hidden(id_: str, t_s: float) -> bool:
        return id_ == "dark-1" and 0.6 < t_s < 1.4 and not 0.9 < t_s < 0.96

    def hands(t_s: float) -> tuple[object, ...]:
        return (hand_at(300, 196),) if 0.4 < t_s < 1.3 else ()

    table = Table({**FOUR, "dark-1": path}, 2.2, power=lambda _: False, hands=hands, gone=hidden)  # type: ignore[arg-type]
    frames = tracked(table)
    assert all(abs(frame.seen["dark-1"].footprint.x_mm - 300) < 8 for frame in frames)
    assert frames[-1].seen["dark-1"].sure


def test_a_stain_that_was_there_before_the_hand_is_nobody_it_took() -> None:
    paths = {**FOUR, "dark-stain": standing(180, 120, 70)}

    def hands(t_s: float) -> tuple[object, ...]:
        return (hand_at(300, 196, "dark-1"),) if 1.0 < t_s < 1.6 else ()

    def path(t_s: float) -> Place:
        return (300 if t_s < 1.3 else 230, 200, 0.0)

    for seen_again_s in (0.0, 1.9):  # a stain seen all the time, or not for a while, as behind an arm

        def hidden(id_: str, t_s: float, again_s: float = seen_again_s) -> bool:
            return t_s > 1.1 and t_s < (again_s if id_ == "dark-stain" else 2.6 if id_ == "dark-1" else 0)

        table = Table(
            {**paths, "dark-1": path},
            3.2,
            power=lambda _: False,
            hands=hands,  # type: ignore[arg-type]
            gone=hidden,
            unlisted=("dark-stain",),
        )
        frames = tracked(table)
        places = [frame.seen["dark-1"].footprint for frame in frames]
        stained = [at for at in places if math.hypot(at.x_mm - 180, at.y_mm - 120) < 20]
        assert not stained
        assert frames[-1].error_mm("dark-1") < 1.0
        assert frames[-1].seen["dark-1"].sure


def walked_unseen(aside_mm: float, gone: dict[str, tuple[float, float]], hand_s: tuple[float, float]) -> list[Tracked]:
    """Two of a team go on unseen, one to near where the other was, by whom a hand is for a moment."""
    walks = {"dark-1": ((200, 200), (200 + aside_mm, 206)), "dark-2": ((248, 180), (290, 180))}

    def path(id_: str) -> Callable[[float], Place]:
        (x, y), (to_x, to_y) = walks[id_]
        return lambda t_s: (x, y, 0.0) if t_s < 1.0 else (to_x, to_y, 0.0)

    def unseen(id_: str, t_s: float) -> bool:
        return id_ in gone and gone[id_][0] < t_s < gone[id_][1]

    def hands(t_s: float) -> tuple[HandPose, ...]:
        return (hand_at(248, 135),) if hand_s[0] < t_s < hand_s[1] else ()

    paths = {**FOUR, **{id_: path(id_) for id_ in walks}}
    return tracked(Table(paths, 2.4, power=lambda _: False, hands=hands, gone=unseen))


def test_who_went_on_unseen_is_not_taken_for_another_whom_a_hand_came_near() -> None:
    last = walked_unseen(56, {"dark-1": (0.99, 1.15), "dark-2": (0.95, 1.1)}, (1.0, 1.05))[-1]
    assert all(last.error_mm(id_) < 1.0 for id_ in ("dark-1", "dark-2"))


def test_who_may_have_gone_on_to_where_another_is_found_is_in_doubt_with_him() -> None:
    last = walked_unseen(40, {"dark-1": (0.9, 1.05), "dark-2": (0.85, 1.2)}, (1.1, 1.15))[-1]
    assert not any(last.seen[id_].sure for id_ in ("dark-1", "dark-2"))
    assert all(last.seen[id_].sure for id_ in ("light-1", "light-2"))


def test_two_look_alikes_taken_and_put_elsewhere_are_in_doubt_and_nobody_else_is() -> None:
    def path(id_: str) -> object:
        before = FOUR[id_](0.0)
        after = {"dark-1": (120.0, 330.0, 0.0), "dark-2": (120.0, 120.0, 0.0)}[id_]
        return lambda t_s: before if t_s < 1.0 else after

    def hands(t_s: float) -> tuple[object, ...]:
        return (hand_at(300, 196), hand_at(300, 256)) if 0.4 < t_s < 0.9 else ()

    table = Table(
        {**FOUR, "dark-1": path("dark-1"), "dark-2": path("dark-2")},  # type: ignore[dict-item]
        2.4,
        power=lambda _: False,
        hands=hands,  # type: ignore[arg-type]
        gone=lambda id_, t_s: id_.startswith("dark") and 0.6 < t_s < 1.3,
    )
    last = tracked(table)[-1]
    assert not last.seen["dark-1"].sure
    assert not last.seen["dark-2"].sure
    assert last.seen["light-1"].sure
    assert last.seen["light-2"].sure


def test_seen_the_wrong_way_round_now_and_then_a_figure_keeps_its_front() -> None:
    paths = {"dark-1": walking(300, 200, 10, 50), "light-1": walking(600, 300, 185, 50)}
    frames = tracked(Table(paths, 3.0), Faults(flip=0.25, flip_s=0.05), seed=2)
    assert all(frame.turn_deg(id_) < 30 for frame in frames for id_ in paths)


def test_lost_frames_lose_nobody() -> None:
    paths = {
        "dark-1": walking(300, 200, 0, 60),
        "dark-2": walking(300, 240, 0, 60),
        "light-1": walking(560, 220, 180, 60),
    }
    frames = tracked(Table(paths, 2.5, lost=lambda t_s: 0.8 < t_s < 1.2 or 1.5 < t_s < 1.6))
    assert switches(frames) == set()
    assert frames[-1].error_mm("dark-1") < 1.0
    assert all(one.sure for one in frames[-1].seen.values())


def test_a_fall_is_seen_within_a_tenth_of_a_second_and_leaning_is_none() -> None:
    def falls(t_s: float) -> float:
        return float(np.clip((t_s - 1.0) / 0.15, 0, 1) * 85)

    def leans(t_s: float) -> float:
        return float(np.clip((t_s - 1.0) / 0.15, 0, 1) * 25)

    frames, tracker = tracked_with(Table(FOUR, 2.0, tilts={"dark-1": falls, "light-2": leans}), seed=3)
    truly = 1.0 + 0.15 * 45 / 85
    found = [frame.t_s for frame in frames if frame.seen["dark-1"].posture == "fallen"]
    assert truly - 0.05 < found[0] < truly + 0.1
    assert len(found) == sum(frame.t_s >= found[0] for frame in frames)
    others = {one.posture for frame in frames for id_, one in frame.seen.items() if id_ != "dark-1"}
    assert others == {"upright"}
    assert frames[-1].seen["dark-1"].fallen > 0.95
    (fall,) = tracker.falls
    assert fall.id == "dark-1"
    assert abs((fall.t_ns * 1e-9 - LINE_UP_S) - truly) < 0.02  # however long it took to be believed
    told = {one.posture: figure_of(one).fell_ns for frame in frames for one in frame.seen.values()}
    assert told == {"fallen": fall.t_ns, "upright": None}
    assert fall.toward_deg is not None
    assert abs(fall.toward_deg + 90) < 30  # he faced 0 degrees and fell to his right
    size = frames[-1].seen["dark-1"].footprint.size
    assert (size.length_mm > 25, size.width_mm < 10) == (True, True)


def test_without_a_roster_whoever_stands_there_is_numbered_across_the_field() -> None:
    frames = tracked(Table(FOUR, 0.5), named=False)
    assert tuple(frames[-1].seen) == ("dark-1", "dark-2", "light-1", "light-2")
    for id_, path in FOUR.items():
        x_mm, y_mm, _ = path(0.0)
        at = frames[-1].seen[id_].footprint
        assert math.hypot(at.x_mm - x_mm, at.y_mm - y_mm) < 1.0
        assert abs(at.size.length_mm - BASE.length_mm) < 1.0
    assert FIELD.name == "ultimate"


def test_a_base_of_which_front_and_rear_are_seen_as_one_point_is_measured_all_the_same() -> None:
    table = Table({"dark-1": standing(300, 200, 0)}, 0.0)
    sight = filmed(table)[0][0]
    (one,) = Network(PERFECT).see(sight)
    flat = dataclasses.replace(one, corners_px=(one.corners_px[0],) * 4)
    seen = measure([flat], calibration_of(sight, look_of(table.players)), BASE.height_mm)
    assert np.isfinite(seen.pose).all()


def test_one_taken_for_fallen_is_believed_by_the_shape_of_its_base_and_the_place_of_its_helmet() -> None:
    table = Table({"dark-1": standing(300, 200, 0)}, 0.0)
    sight = filmed(table)[0][0]
    calibration = calibration_of(sight, look_of(table.players))
    (stands,) = Network(PERFECT).see(sight)
    over = dataclasses.replace(stands, kind="fallen", score=1.0)
    assert over.helmet_px is not None
    beside = dataclasses.replace(over, helmet_px=(over.helmet_px[0], over.helmet_px[1] + 40))
    guessed = dataclasses.replace(over, helmet_score=0.2)
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = over.corners_px
    thin = dataclasses.replace(
        over,
        corners_px=(
            (ax, ay),
            (0.7 * ax + 0.3 * bx, 0.7 * ay + 0.3 * by),
            (0.3 * cx + 0.7 * dx, 0.3 * cy + 0.7 * dy),
            (dx, dy),
        ),
    )
    seen = (stands, over, beside, guessed, thin)
    upright, above, aside, unknown, edge = (
        float(measure([one], calibration, BASE.height_mm).fallen[0]) for one in seen
    )
    assert upright < above < 0 < aside == unknown < edge - 1


def test_at_the_edge_of_the_board_a_helmet_seen_far_off_its_base_is_over_it() -> None:
    """One that stands there is seen from its side, as one that lies is."""
    table = Table({"dark-1": standing(1080, 580, 0)}, 0.0)
    sight = filmed(table)[0][0]
    (stands,) = Network(PERFECT).see(sight)
    right_px = max(x for x, _ in stands.corners_px)
    assert stands.helmet_px is not None
    assert stands.helmet_px[0] > right_px
    taken = dataclasses.replace(stands, kind="fallen", score=1.0)
    assert measure([taken], calibration_of(sight, look_of(table.players)), BASE.height_mm).fallen < 0
