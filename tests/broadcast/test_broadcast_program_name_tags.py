"""Name tags show what the font of pictures can draw."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from downfield.broadcast.program import lettering
from downfield.broadcast.program.lettering import draw_text, is_drawable, text_width
from downfield.broadcast.program.program_painter import drawable, tag_text
from downfield.core.arrays import Image
from downfield.game.published.game_topics import TeamView
from downfield.game.published.stream_topics import OnAirPerson

ARABIC, HEBREW, HINDI = "\u0627\u0644\u0623\u0633\u0648\u062f", "\u05d0\u05e8\u05d9\u05d5\u05ea", "\u0936\u0947\u0930"
WITH_FONT = pytest.mark.skipif(
    not (is_drawable(ARABIC) and is_drawable(f"{HEBREW} 28")), reason="no font of this system has Arabic and Hebrew"
)


def a_team() -> TeamView:
    return TeamView(
        name="River City", short="RIV", color="#123456", ink="#ffffff", jersey="dark", points=0, time_outs=3
    )


def drawn(text: str, width: int) -> Image:
    out = np.zeros((40, width, 3), np.uint8)
    draw_text(out, text, (0, 30), (255, 255, 255), 22)
    return out


@pytest.fixture
def without_pillow(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(lettering, "_has_raqm", lambda: False)
    lettering._font_path.cache_clear()
    yield
    lettering._font_path.cache_clear()


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("RIV", "RIV"),
        ("\U0001f985\U0001f985\U0001f985", ""),
        ("\U0001f985 EAG \u2764\ufe0f", "EAG"),
        ("\U0001f468\u200d\U0001f469 FAM", "FAM"),
        ("\u6771\u4eac\u96fb", "\u6771\u4eac\u96fb"),
        ("\u0414\u0418\u041d", "\u0414\u0418\u041d"),
        ("E\u0301T & C+", "E\u0301T & C+"),
    ],
)
def test_emoji_are_left_out_of_a_tag_and_every_script_stays(name: str, shown: str) -> None:
    assert drawable(name) == shown


@WITH_FONT
def test_letters_that_join_are_joined() -> None:
    joined = text_width(ARABIC, 22)
    assert joined < 0.9 * sum(text_width(letter, 22) for letter in ARABIC)
    assert drawn(ARABIC, joined + 2).any()


@WITH_FONT
@pytest.mark.parametrize("name", [ARABIC, HEBREW])
def test_a_name_from_the_right_stands_at_the_right_of_its_number(name: str) -> None:
    inked = np.flatnonzero(drawn(f"{name} 28", text_width(f"{name} 28", 22) + 2).any(axis=(0, 2)))
    space = int(np.argmax(np.diff(inked)))  # the widest gap is between the two
    assert inked[space] - inked[0] < inked[-1] - inked[space + 1]


def test_text_at_the_edge_of_a_picture_is_cut_off() -> None:
    out = np.zeros((20, 10, 3), np.uint8)
    for origin in ((-30, 10), (5, 3), (-5, 40), (400, 400)):
        draw_text(out, ARABIC, origin, (255, 255, 255), 22)


@pytest.mark.usefixtures("without_pillow")
@pytest.mark.parametrize(
    ("team", "text"), [(ARABIC, "28 RB"), (HINDI, "28 RB"), (HEBREW, "28 RB"), ("RIV", "RIV 28 RB")]
)
def test_a_name_whose_script_can_not_be_drawn_is_left_out(team: str, text: str) -> None:
    assert tag_text(team, "28", "RB") == text
    assert tag_text(team, "", "") in {team, ""}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Marcus Bell", "RIV 28 Marcus Bell"),
        ("", "RIV 28 RB"),
        ("\U0001f985", "RIV 28 RB"),  # no font of pictures has it
        ("Bartholomew Featherstonehaugh", "RIV 28 Featherstonehaugh"),
        ("W" * 60, "RIV 28 " + "W" * 20),
    ],
)
def test_a_players_name_stands_in_the_place_of_the_role(name: str, text: str) -> None:
    assert tag_text("RIV", "28", "RB", name) == text


def test_a_player_is_named_by_team_and_number() -> None:
    team = a_team()
    person = OnAirPerson(name="Marcus Bell", team=team.short.lower(), number="28")
    assert person.plays_as("28", team)
    assert not person.plays_as("2", team)
    assert not OnAirPerson(name="Coach", team=team.name).plays_as("", team), "a coach has no number"
    assert not OnAirPerson(name="Marcus Bell", team="Others", number="28").plays_as("28", team)
