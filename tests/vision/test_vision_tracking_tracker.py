"""The tracker, on small tables filmed by a simulated detector."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from simulated_detector import Faults
from tracked_tables import (
    BASE,
    FIELD,
    LINE_UP_S,
    Place,
    Table,
    Tracked,
    hand_at,
    standing,
    switches,
    tracked,
    tracked_with,
    walking,
)

from downfield.twin.table.snapshot import HandPose

FOUR = {
    "dark-1": standing(300, 200, 0),
    "dark-2": standing(300, 260, 0),
    "light-1": standing(345, 200, 180),
    "light-2": standing(345, 260, 180),
}


def test_errors_of_walking_figures_agree_with_two_sigma() -> None:
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


def test_figures_that_walk_past_each_other_keep_their_ids() -> None:
    paths = {
        "dark-1": walking(300, 200, 0, 90),
        "light-1": walking(480, 221, 180, 90),
        "dark-2": walking(300, 242, 0, 60),
        "light-2": walking(480, 263, 180, 80),
    }
    frames = tracked(Table(paths, 2.0))
    assert switches(frames) == set()
    assert all(figure.sure for frame in frames for figure in frame.seen.values())
    assert np.median([frame.error_mm(id_) for frame in frames for id_ in paths]) < 0.4


def test_figures_keep_their_motion_in_skipped_frames() -> None:
    paths = {
        "dark-1": walking(300, 200, 0, 60),
        "light-1": walking(480, 221, 180, 60),
        "dark-2": walking(300, 242, 5, 40),
        "light-2": standing(480, 263, 180),
    }
    frames = tracked(Table(paths, 2.0, gone=lambda id_, t_s: id_ == "light-2" and t_s > 1.0), every=2)
    detected, skipped = frames[1::2], frames[2::2]
    assert all(figure.fresh for frame in detected for figure in frame.seen.values())
    assert not any(figure.fresh for frame in skipped for figure in frame.seen.values())
    for before, frame in zip(detected, skipped, strict=False):
        assert [figure.seen for figure in frame.seen.values()] == [figure.seen for figure in before.seen.values()]
    walkers = ("dark-1", "light-1", "dark-2")
    assert np.median([frame.error_mm(id_) for frame in skipped for id_ in walkers]) < 0.5
    assert frames[-1].seen["light-2"].posture == "unseen"
    assert switches([frame for frame in frames if frame.t_s < 1.0]) == set()


def test_a_fall_is_found_as_fast_with_half_as_many_detections() -> None:
    """A detection counts by the time since the last one, not by frames."""
    table = Table(FOUR, 1.5, tilts={"dark-2": lambda t_s: float(np.clip((t_s - 0.6) / 0.15, 0, 1) * 85)})
    fell = [
        next(frame.t_s for frame in tracked(table, every=every) if frame.seen["dark-2"].posture == "fallen")
        for every in (1, 2)
    ]
    assert 0.6 < fell[0] <= fell[1] < fell[0] + 0.1


def test_no_figure_is_dropped_from_the_roster_or_added_to_it() -> None:
    noisy = Faults(false=2.0, double=0.1, miss=0.1)
    frames = tracked(Table(FOUR, 2.0, gone=lambda id_, t_s: id_ == "light-2" and t_s > 1.0), noisy)
    assert all(tuple(frame.seen) == tuple(FOUR) for frame in frames)
    assert switches([frame for frame in frames if frame.t_s < 1.0]) == set()
    assert frames[-1].seen["light-2"].posture == "unseen"
    assert all(frame.error_mm(id_) < 2.0 for frame in frames for id_ in ("dark-1", "dark-2", "light-1"))


def test_a_figure_hidden_for_a_second_is_predicted_with_growing_error_and_found_again() -> None:
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


def test_an_undetected_figure_is_not_extrapolated_for_long() -> None:
    """Missed for a moment it walks on; for longer, it most likely met another figure and stopped."""
    table = Table(
        {"dark-1": walking(300, 300, 0, 80), "dark-2": standing(300, 500, 0), "light-1": standing(500, 300, 180)},
        2.0,
        gone=lambda id_, t_s: id_ == "dark-1" and t_s > 0.5,
    )
    frames = tracked(table)
    before = next(frame for frame in frames if frame.t_s > 0.45).seen["dark-1"].footprint
    for frame in frames:
        now = frame.seen["dark-1"].footprint
        if frame.t_s > 0.5:
            assert math.hypot(now.x_mm - before.x_mm, now.y_mm - before.y_mm) < 35  # of 120 that it would walk


def test_half_hidden_bases_are_placed_by_their_known_size() -> None:
    """An arm covers the rear of a base for long: its corners there are guesses."""
    table = Table(FOUR, 1.5, hands=lambda t_s: (hand_at(292, 186),) if t_s > 0.3 else (), power=lambda _: False)
    frames = tracked(table, Faults(hidden_px=8.0), seed=4)
    late = [frame for frame in frames if frame.t_s > 0.8 and frame.seen["dark-1"].seen]
    assert all(frame.error_mm("dark-1") < 2.5 for frame in late)


def test_a_figure_turned_around_by_a_hand_faces_the_other_way() -> None:
    def path(t_s: float) -> Place:
        return (300, 200, 0.0 if t_s < 1.0 else 180.0)

    def hands(t_s: float) -> tuple[object, ...]:
        return (hand_at(300, 196, "dark-1"),) if 0.5 < t_s < 1.3 else ()

    frames = tracked(Table({**FOUR, "dark-1": path}, 2.2, power=lambda _: False, hands=hands))  # type: ignore[arg-type]
    assert frames[-1].turn_deg("dark-1") < 10
    assert frames[-1].seen["dark-1"].sure
    assert all(frame.turn_deg(id_) < 20 for frame in frames for id_ in ("dark-2", "light-2"))


def test_a_figure_put_down_elsewhere_is_recognized_and_unsure_only_when_far() -> None:
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


def test_a_brief_detection_beside_a_hand_is_not_the_figure_under_it() -> None:
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


def test_a_stain_that_existed_before_the_hand_came_is_no_figure_it_took() -> None:
    paths = {**FOUR, "dark-stain": standing(180, 120, 70)}

    def hands(t_s: float) -> tuple[object, ...]:
        return (hand_at(300, 196, "dark-1"),) if 1.0 < t_s < 1.6 else ()

    def path(t_s: float) -> Place:
        return (300 if t_s < 1.3 else 230, 200, 0.0)

    for seen_again_s in (0.0, 1.9):  # a stain detected all the time, or not for a while, as behind an arm

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
    """Two teammates walk on unseen, one to near where the other was, beside which a hand is for a moment."""
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


def test_a_figure_that_walked_on_unseen_is_not_taken_for_one_near_a_hand() -> None:
    last = walked_unseen(56, {"dark-1": (0.99, 1.15), "dark-2": (0.95, 1.1)}, (1.0, 1.05))[-1]
    assert all(last.error_mm(id_) < 1.0 for id_ in ("dark-1", "dark-2"))


def test_a_figure_that_may_have_walked_to_where_another_is_found_makes_both_unsure() -> None:
    last = walked_unseen(40, {"dark-1": (0.9, 1.05), "dark-2": (0.85, 1.2)}, (1.1, 1.15))[-1]
    assert not any(last.seen[id_].sure for id_ in ("dark-1", "dark-2"))
    assert all(last.seen[id_].sure for id_ in ("light-1", "light-2"))


def test_two_teammates_put_down_elsewhere_are_unsure_and_no_others() -> None:
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


def test_a_figure_sometimes_detected_the_wrong_way_around_keeps_its_front() -> None:
    paths = {"dark-1": walking(300, 200, 10, 50), "light-1": walking(600, 300, 185, 50)}
    frames = tracked(Table(paths, 3.0), Faults(flip=0.25, flip_s=0.05), seed=2)
    assert all(frame.turn_deg(id_) < 30 for frame in frames for id_ in paths)


def test_dropped_frames_lose_no_figure() -> None:
    paths = {
        "dark-1": walking(300, 200, 0, 60),
        "dark-2": walking(300, 240, 0, 60),
        "light-1": walking(560, 220, 180, 60),
    }
    frames = tracked(Table(paths, 2.5, lost=lambda t_s: 0.8 < t_s < 1.2 or 1.5 < t_s < 1.6))
    assert switches(frames) == set()
    assert frames[-1].error_mm("dark-1") < 1.0
    assert all(figure.sure for figure in frames[-1].seen.values())


def test_a_fall_is_found_within_a_tenth_of_a_second_and_leaning_is_no_fall() -> None:
    def falls(t_s: float) -> float:
        return float(np.clip((t_s - 1.0) / 0.15, 0, 1) * 85)

    def leans(t_s: float) -> float:
        return float(np.clip((t_s - 1.0) / 0.15, 0, 1) * 25)

    frames, tracker = tracked_with(Table(FOUR, 2.0, tilts={"dark-1": falls, "light-2": leans}), seed=3)
    truly = 1.0 + 0.15 * 45 / 85
    found = [frame.t_s for frame in frames if frame.seen["dark-1"].posture == "fallen"]
    assert truly - 0.05 < found[0] < truly + 0.1
    assert len(found) == sum(frame.t_s >= found[0] for frame in frames)
    others = {figure.posture for frame in frames for id_, figure in frame.seen.items() if id_ != "dark-1"}
    assert others == {"upright"}
    assert frames[-1].seen["dark-1"].fallen > 0.95
    (fall,) = tracker.falls
    assert fall.id == "dark-1"
    assert abs((fall.t_ns * 1e-9 - LINE_UP_S) - truly) < 0.02  # however long it took to be found
    fell_ns = {figure.posture: figure.to_figure().fell_ns for frame in frames for figure in frame.seen.values()}
    assert fell_ns == {"fallen": fall.t_ns, "upright": None}
    assert fall.toward_deg is not None
    assert abs(fall.toward_deg + 90) < 30  # it faced 0 degrees and fell to its right
    size = frames[-1].seen["dark-1"].footprint.size
    assert (size.length_mm > 25, size.width_mm < 10) == (True, True)


def test_who_fell_while_it_walked_stays_where_it_lies_when_nothing_is_detected_there() -> None:
    def falls(t_s: float) -> float:
        return float(np.clip((t_s - 1.0) / 0.15, 0, 1) * 85)

    def walks_until_it_falls(t_s: float) -> Place:
        return walking(300, 200, 0, 60)(min(t_s, 1.1))

    paths = FOUR | {"dark-1": walks_until_it_falls, "light-1": standing(480, 200, 180)}
    table = Table(paths, 2.0, tilts={"dark-1": falls}, gone=lambda id_, t_s: id_ == "dark-1" and t_s > 1.2)
    frames = [frame for frame in tracked(table, seed=3) if frame.t_s > 1.2]
    assert frames[0].seen["dark-1"].fallen > 0.5
    places = [frame.seen["dark-1"].footprint.x_mm for frame in frames]
    assert max(places) - min(places) < 2.0


def test_without_a_roster_figures_are_numbered_across_the_field() -> None:
    frames = tracked(Table(FOUR, 0.5), named=False)
    assert tuple(frames[-1].seen) == ("dark-1", "dark-2", "light-1", "light-2")
    for id_, path in FOUR.items():
        x_mm, y_mm, _ = path(0.0)
        at = frames[-1].seen[id_].footprint
        assert math.hypot(at.x_mm - x_mm, at.y_mm - y_mm) < 1.0
        assert abs(at.size.length_mm - BASE.length_mm) < 1.0
    assert FIELD.name == "ultimate"


def test_standing_figures_called_fallen_throughout_with_helmets_beside_their_bases_stand() -> None:
    paths = FOUR | {"dark-2": walking(300, 260, 0, 60)}

    def falls(t_s: float) -> float:
        return float(np.clip((t_s - 1.0) / 0.15, 0, 1) * 85)

    def leans(_t_s: float) -> float:
        return 15.0

    table = Table(paths, 2.5, tilts={"dark-1": falls, "light-2": leans})
    frames = tracked(table, Faults(called_fallen=1.0, flip=0.0), seed=3)
    others = {figure.posture for frame in frames for id_, figure in frame.seen.items() if id_ != "dark-1"}
    assert others == {"upright"}
    assert {frame.seen["dark-1"].posture for frame in frames if frame.t_s < 1.0} == {"upright"}
    found = [frame.t_s for frame in frames if frame.seen["dark-1"].posture == "fallen"]
    assert found[0] < 1.0 + 0.15 * 45 / 85 + 0.25  # later than where the call is worth something, but it is found
    assert frames[-1].seen["dark-1"].posture == "fallen"
    assert np.median([frame.error_mm(id_) for frame in frames for id_ in ("dark-2", "light-1")]) < 0.5
