"""Calls that an older version of the program judged: what it did not keep of them is said, not made up."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from downfield.officiating.belief import Belief, measured_words
from downfield.officiating.calls import Call

_TOLD_APART_SINCE: Final = (0, 3)
"""From this version on a call keeps everything measured that it rests on, each with a probability of its own."""

_VERSION: Final = re.compile(r"(\d+)\.(\d+)")


def older_note(call: Call, version: str) -> str:
    """Return what a version did not keep of a call, in a sentence; empty where it kept all, or nothing was in doubt.

    Args:
        call: the call.
        version: of the program that judged its game; empty where it is not known.

    """
    numbers = _VERSION.match(version)
    if numbers is None or (int(numbers[1]), int(numbers[2])) >= _TOLD_APART_SINCE:
        return ""
    if call.conditions or call.belief.basis == "none" or not call.belief.is_doubtful:
        return ""
    return f"Judged by Downfield {version}, which kept one percentage for everything that a call rests on."


def older_belief(call: Call) -> tuple[Belief, str]:
    """Return what is believed of such a call, and its words.

    Where its percentage is not the measurement's, nobody knows what else is in it: no margin stands for it.
    """
    belief = call.belief
    if belief.basis != "history":
        return belief, call.words
    kept = replace(belief, basis="more", margin=None, sigma=None)
    too_close = call.verdict == "too_close"
    return kept, measured_words(kept, call.measured_quantity, call.when_words, too_close=too_close)
