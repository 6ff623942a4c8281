"""The strip's twin: states, games of cards, and decals and clear boxes in its pictures."""

from __future__ import annotations

import pytest

from downfield.core.errors import InputError
from downfield.core.strip import Count, load_strip
from downfield.twin.strip.clip import StripFilm, StripMoment
from downfield.twin.strip.game import numbers_of, play_moves
from downfield.twin.strip.look import StripState, draw_look, set_to, turned

STRIP = load_strip()


def number(state: StripState, counts: Count) -> int:
    """What the dials of one count say; all of them are set to a face."""
    said = zip(STRIP.dials, state.faces(STRIP), strict=True)
    return sum(int(face or "") * dial.place for dial, face in said if dial.counts == counts)


def test_a_state_says_the_numbers_it_was_set_to() -> None:
    state = set_to(STRIP, 20, "right", {"home": 31, "minutes": 9, "seconds": 50})
    assert (number(state, "home"), number(state, "minutes"), number(state, "seconds")) == (31, 9, 50)
    assert state.third == "right"


def test_a_dial_between_two_faces_says_nothing() -> None:
    state = turned(set_to(STRIP, 20, "right", {"home": 31}), 0, 3.5)
    assert state.faces(STRIP)[0] is None


def test_a_number_that_no_dial_shows_is_refused() -> None:
    with pytest.raises(InputError, match="seconds"):
        set_to(STRIP, 20, "center", {"seconds": 5})


def test_a_game_of_cards_sets_the_strip_to_the_state_of_the_game() -> None:
    moves = list(play_moves(STRIP, 7, 60))
    assert len(moves) == 60
    for move in moves:
        assert round(move.strip.slide_yd) == min(max(round(move.game.los_yd), 1), 99)
        assert move.strip.third == move.game.hash
        assert all(number(move.strip, counts) == shown for counts, shown in numbers_of(move.game).items())


def test_splits_share_no_look() -> None:
    drawn = {split: [draw_look(STRIP, seed, split=split) for seed in range(6)] for split in ("train", "test")}
    assert not {look.face_height for look in drawn["train"]} & {look.face_height for look in drawn["test"]}
    assert not {look.face_font for look in drawn["train"]} & {look.face_font for look in drawn["test"]}


def test_another_number_in_a_window_changes_the_picture_there_and_nowhere_else() -> None:
    look = draw_look(STRIP, 2, split="test", size=(640, 360))
    state = set_to(look.strip, 20, "center", {"quarter": 2})
    film = StripFilm(look)
    first, second = (
        next(film.film([StripMoment((0,), shown)])).image.astype(int) for shown in (state, turned(state, 2, 3.0))
    )
    dial = look.strip.dials[2]
    middle = look.camera.to_pixels([[sum(dial.x_mm) / 2, sum(dial.y_mm) / 2, 0.0]])[0]
    differs = abs(first - second).max(axis=2) > 40
    rows, columns = differs.nonzero()
    assert len(rows)
    assert abs(rows - middle[1]).max() < 40
    assert abs(columns - middle[0]).max() < 40
