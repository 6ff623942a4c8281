"""Name tags show what the font of pictures can draw."""

from __future__ import annotations

import pytest

from downfield.rig.program.name_tags import drawable


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
