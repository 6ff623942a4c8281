"""A data folder that was copied to another computer: both runs say so, and the later one becomes a rig of its own."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from broker_server import BrokerServer
from tournament_tables import table
from waiting import wait_until

from downfield.core.errors import RefusedError
from downfield.game.receipts import Receipt, Refused, Submission
from downfield.game.records.commands import NewGame, TeamSheet
from downfield.game.records.owner import rig_id
from downfield.rig.scorekeeper import Scorekeeper
from downfield.rig.tournament.table_feed import ABOUT, ANSWER_S, GONE_S, IdentityWatch, TableMessage
from downfield.store.sealing.signing import RigKey

pytestmark = pytest.mark.usefixtures("short_pauses")

KEY = RigKey.generate()
GAME = NewGame(home=TeamSheet(name="River City", short="RIV"))


class Clock:
    """A monotonic clock that is set by hand."""

    def __init__(self, now_s: float = 5.0) -> None:
        self.now_s = now_s

    def __call__(self) -> float:
        return self.now_s


def watch(clock: Clock) -> IdentityWatch:
    return IdentityWatch(rig_id(KEY.public_text), clock)


def told(by: IdentityWatch, address: str = "http://10.0.0.4:8317") -> TableMessage:
    return TableMessage(KEY.public_text, "Table 3", ABOUT, {"address": address, **by.about()})


def is_due(by: IdentityWatch) -> bool:
    return by.is_answer_due


def test_of_two_runs_the_later_one_starts_no_games_whatever_their_clocks_say() -> None:
    early, late = Clock(900_000.0), Clock(3.0)
    first, second = watch(early), watch(late)
    early.now_s, late.now_s = early.now_s + 60, late.now_s + 1
    first.hear(told(second))
    second.hear(told(first))
    first.require_first()
    with pytest.raises(RefusedError, match=r"10\.0\.0\.4.*delete rig\.key"):
        second.require_first()
    assert first.other is not None
    assert not first.other.began_first


def test_a_run_hears_neither_itself_nor_what_tells_nothing() -> None:
    own = watch(Clock())
    own.hear(told(own))
    own.hear(TableMessage(KEY.public_text, "Table 3", ABOUT, {"address": "http://10.0.0.9:8317"}))
    own.hear(TableMessage(KEY.public_text, "Table 3", ABOUT, {"run": "other", "running_s": "long"}))
    assert own.other is None
    assert not is_due(own)


def test_runs_answer_each_other_but_not_at_once_and_a_silent_one_is_over() -> None:
    clock = Clock()
    own, other = watch(clock), watch(Clock())
    own.about()
    own.hear(told(other))
    assert not is_due(own)
    clock.now_s += ANSWER_S
    assert is_due(own)
    own.about()
    clock.now_s += ANSWER_S
    assert not is_due(own)
    clock.now_s += GONE_S
    assert own.other is None
    own.require_first()


def test_of_runs_as_old_as_each_other_one_goes_first() -> None:
    one, other = watch(Clock()), watch(Clock())
    one.hear(told(other))
    other.hear(told(one))
    assert one.other is not None
    assert other.other is not None
    assert one.other.began_first != other.other.began_first


def start_a_game(rig: Scorekeeper, key: str) -> Receipt | Refused:
    return rig.game_service.command(GAME, Submission("Ana", key, role="admin"))


def problems(rig: Scorekeeper) -> set[str]:
    return {reason.code for reason in rig.health().reasons}


def test_a_copied_data_folder_is_told_on_both_refused_on_the_copy_and_ends_with_a_key_of_its_own(
    tmp_path: Path, brokering: BrokerServer
) -> None:
    with table(tmp_path / "Table 3", brokering, GAME):
        pass
    shutil.copytree(tmp_path / "Table 3", tmp_path / "copy")
    with table(tmp_path / "Table 3", brokering) as original:
        assert original.resumed
        with table(tmp_path / "copy", brokering) as copy:
            wait_until(lambda: "rig_copied" in problems(original) & problems(copy), "both know of each other")
            refused = start_a_game(copy, "one")
            assert isinstance(refused, Refused)
            assert "delete rig.key" in refused.reason
            assert isinstance(start_a_game(original, "one"), Receipt)
            played = copy.game_service.game_id
        (tmp_path / "copy" / "rig.key").unlink()
        with table(tmp_path / "copy", brokering) as another:
            assert another.game_service.game_id != played
            assert isinstance(start_a_game(another, "two"), Receipt)
            wait_until(lambda: "rig_copied" not in problems(original), "the copy is no longer one")
            assert "rig_copied" not in problems(another)
