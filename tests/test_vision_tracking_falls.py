from collections.abc import Sequence

import numpy as np

from downfield.vision.tracking.falls import PostureBelief

STEP_NS = 16_666_667
SAYS_LYING, SAYS_STANDING = 2.4, -1.1


def told(belief: PostureBelief, odds: Sequence[float | None], first: int = 1) -> None:
    """Frames that show one figure, or do not."""
    for frame, one in enumerate(odds, first):
        rows = np.array([] if one is None else [0], dtype=np.intp)
        belief.update(rows, np.array([] if one is None else [one]), STEP_NS * 1e-9, frame * STEP_NS)


def test_a_fall_is_dated_between_the_last_frame_that_shows_the_figure_standing_and_the_first_that_shows_it_lying() -> (
    None
):
    belief = PostureBelief(1, 0)
    told(belief, [SAYS_STANDING] * 30 + [None] * 4 + [SAYS_LYING] * 10)
    assert belief.fell_ns == [(30 * STEP_NS + 35 * STEP_NS) // 2]


def test_one_frame_that_mistakes_a_figure_does_not_date_the_fall_that_comes_later() -> None:
    belief = PostureBelief(1, 0)
    told(belief, [SAYS_STANDING] * 10 + [SAYS_LYING] + [SAYS_STANDING] * 19 + [SAYS_LYING] * 10)
    assert belief.fell_ns == [(30 * STEP_NS + 31 * STEP_NS) // 2]


def test_one_that_was_long_believed_to_lie_and_stands_again_falls_anew() -> None:
    belief = PostureBelief(1, 0)
    told(belief, [SAYS_STANDING] * 30 + [SAYS_LYING] * 120)
    told(belief, [SAYS_STANDING] * 60, first=151)
    assert belief.fell_ns == [None]
    told(belief, [SAYS_LYING] * 10, first=211)
    assert belief.fell_ns == [(210 * STEP_NS + 211 * STEP_NS) // 2]


def test_what_a_figure_looked_like_before_a_hand_had_it_dates_no_fall() -> None:
    belief = PostureBelief(1, 0)
    told(belief, [SAYS_STANDING] * 30 + [SAYS_LYING])
    belief.stand(np.array([0], dtype=np.intp))
    told(belief, [None] * 30 + [SAYS_LYING] * 10, first=32)
    assert belief.fell_ns == [(31 * STEP_NS + 62 * STEP_NS) // 2]
