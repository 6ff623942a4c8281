"""Games of recordings stay nobody's in the configured store, and a data folder has one rig."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import cv2
import pytest

from downfield.capture.source import CaptureClock
from downfield.capture.sources.file_sources import VideoFile, bundled_demo
from downfield.cli.main import run_command
from downfield.core.errors import InputError
from downfield.game.records.owner import rig_id
from downfield.rig.configuration.loading import load
from downfield.rig.configuration.settings import RigSettings
from downfield.rig.games.kept_games import doubts, open_rig_key, open_store, table_name
from downfield.rig.rig import Rig
from downfield.store.writing.store import Store

_HOLD = """
import sys
from downfield.rig.configuration.loading import load
from downfield.rig.games.kept_games import leased_data_folder
settings = load(environment={}, command_line={"data": sys.argv[1], "rig.table": "attic"}).settings
with leased_data_folder(settings):
    print("held", flush=True)
    sys.stdin.read()
"""


def pictures(folder: Path) -> str:
    """Return a folder of three pictures of the demo's table."""
    (folder / "pictures").mkdir()
    frame = next(iter(VideoFile(bundled_demo(), paced=False).frames())).decode()
    for number in range(3):
        cv2.imwrite(str(folder / "pictures" / f"{number}.png"), frame.image)
    return str(folder / "pictures")


@pytest.mark.parametrize("kind", ["demo", "clip", "folder", "twin"])
def test_a_recording_shown_again_in_the_store_of_live_games_is_not_the_next_live_game(
    kind: str, tmp_path: Path
) -> None:
    source = {"demo": "", "clip": str(bundled_demo()), "folder": pictures(tmp_path), "twin": "twin:clean-tackle"}[kind]
    given = {
        "source.name": source,
        "source.tracks": kind != "folder",
        "source.fps": 20,
        "source.size": [320, 180],
        "store.url": f"sqlite:///{tmp_path}/games.db",
        "data": str(tmp_path / "data"),
        "service.on": False,
    }
    if kind == "folder":
        given["calibration.file"] = str(bundled_demo().with_suffix(".calibration.json"))
    settings = load(environment={}, command_line=given).settings
    live, owner = open_store(settings, tmp_path, open_rig_key(tmp_path / "data", must_be_kept=True), live=True)
    live.close()
    rig = Rig(load(environment={}, command_line=given), tmp_path, paced=False)
    game = rig.game_service.game_id
    rig.close()
    with_all = Store(settings.store.url)
    assert [(row.id, row.owner) for row in with_all.games()] == [(game, "")]
    assert with_all.latest_game(owner.rig) is None
    with_all.close()


def test_a_second_rig_on_a_data_folder_is_one_line_that_names_the_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    holding = [sys.executable, "-c", _HOLD, str(tmp_path)]
    with subprocess.Popen(holding, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "held\n"
        second = ["run", "--source", "http://127.0.0.1:9/", "--no-page", "--set", f"data={tmp_path}"]
        status = run_command(second)
        first.kill()
    told = f"downfield: The data folder {tmp_path} is in use by table 'attic', process {first.pid} on "
    refused = capsys.readouterr().err
    assert status == 2
    assert refused.startswith(told)
    assert refused.count("\n") == 1
    after = subprocess.run(holding, input="", capture_output=True, text=True, timeout=120, check=False)
    assert after.stdout == "held\n"


def test_two_data_folders_are_two_rigs_and_a_copied_one_is_refused(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/games.db"
    first, second = (
        load(environment={}, command_line={"data": str(tmp_path / name), "store.url": url}).settings for name in "ab"
    )
    key, other_key = (open_rig_key(tmp_path / name, must_be_kept=True) for name in "ab")
    store, owner = open_store(first, tmp_path, key, live=True)
    other, other_owner = open_store(second, tmp_path, other_key, live=True)
    assert owner.rig == rig_id(key.public_text)
    assert owner.rig != other_owner.rig
    other.close()
    with pytest.raises(InputError, match="is in use by table"):
        open_store(second, tmp_path, key, live=True)
    store.close()


def test_a_table_is_named_by_setting_or_computer(tmp_path: Path) -> None:
    given = {"data": str(tmp_path), "rig.table": "Table 3"}
    assert table_name(load(environment={}, command_line=given).settings) == "Table 3"
    assert table_name(load(environment={}, command_line={"data": str(tmp_path)}).settings)


@pytest.mark.parametrize(("hours", "count"), [(-1, 0), (0, 0), (0.5, 0), (2, 1), (60 * 365 * 24, 1)])
def test_a_clock_that_is_behind_what_was_recorded_is_told_at_the_start(
    tmp_path: Path, hours: float, count: int
) -> None:
    settings = RigSettings(data=str(tmp_path))
    store, clock = Store.at(tmp_path / "games.db"), CaptureClock()
    clock.start_after(time.time_ns() + round(hours * 3.6e12))
    texts = list(doubts(store, settings, clock))
    store.close()
    assert len(texts) == count
    assert all("before what this rig has recorded" in text for text in texts)
