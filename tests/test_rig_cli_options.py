"""A file that a command reads is never written over, and a folder is no file to write."""

from __future__ import annotations

from pathlib import Path

import pytest

from downfield.core.errors import InputError
from downfield.rig.cli.options import check_outputs


def test_an_output_over_an_input_is_refused_under_any_of_its_names(tmp_path: Path) -> None:
    tracks = tmp_path / "game.tracks.jsonl"
    (tmp_path / "folder").mkdir()
    for output in (tracks, tmp_path / "folder" / ".." / "game.tracks.jsonl"):
        with pytest.raises(InputError, match=r"this file is read, so it can't be written too"):
            check_outputs(output, inputs=(None, tracks))


def test_a_folder_as_output_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"):
        check_outputs(None, tmp_path, inputs=())


def test_another_output_is_accepted(tmp_path: Path) -> None:
    check_outputs(tmp_path / "game.calls.jsonl", None, inputs=(tmp_path / "game.tracks.jsonl", None))
