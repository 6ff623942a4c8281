"""The rig's key in its data folder: kept, required of a live rig, and for one run only where nothing can be kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from downfield.core.errors import InputError
from downfield.rig.games.kept_games import RIG_KEY, open_rig_key


def test_the_key_stays_the_same_from_run_to_run(tmp_path: Path) -> None:
    first = open_rig_key(tmp_path / "data", must_be_kept=True)
    again = open_rig_key(tmp_path / "data", must_be_kept=False)
    assert again.public_text == first.public_text
    assert (tmp_path / "data" / RIG_KEY).is_file()


def test_a_damaged_key_stops_a_live_rig_and_a_recording_is_played_without_it(tmp_path: Path) -> None:
    (tmp_path / RIG_KEY).write_text("damaged")
    with pytest.raises(InputError, match="not the rig's key"):
        open_rig_key(tmp_path, must_be_kept=True)
    assert open_rig_key(tmp_path, must_be_kept=False).public_text.startswith("ed25519:")
    assert (tmp_path / RIG_KEY).read_text() == "damaged"
