"""The start of the command: Ctrl-C while Python still imports it, and locales that lack letters of names."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import urllib.request
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

import pytest
from ports import reserve_port
from waiting import WAIT_S, wait_until

from downfield.cli import main
from downfield.cli.start import start
from downfield.store.sealing.heads import read_heads

INTERRUPTED_IMPORT = """
import importlib.abc, os, signal, sys
class Interrupting(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "downfield.cli.main":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
sys.argv = ["downfield", "--version"]
signal.signal(signal.SIGINT, {handler})
from downfield.cli.start import start
start()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent in another way")
@pytest.mark.parametrize(
    ("handler", "status", "output"),
    [("signal.default_int_handler", -signal.SIGINT, ""), ("signal.SIG_IGN", 0, f"downfield {version('downfield')}\n")],
)
def test_ctrl_c_during_the_import_prints_no_traceback(handler: str, status: int, output: str) -> None:
    script = INTERRUPTED_IMPORT.format(handler=handler)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=WAIT_S, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (status, output, "")


LACKING = """
import sys
class Lacking:
    def find_spec(self, name, path, target=None):
        if name == "cv2":
            raise ImportError("{problem}")
sys.meta_path.insert(0, Lacking())
sys.argv = ["downfield", "track", "game.mp4", "-c", "table.calibration.json", "-o", "game.tracks.jsonl"]
from downfield.cli.start import start
start()
"""


def test_a_library_that_the_system_lacks_is_named_with_what_to_install(tmp_path: Path) -> None:
    script = LACKING.format(problem="libGL.so.1: cannot open shared object file: No such file or directory")
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=WAIT_S, check=False, cwd=tmp_path
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("downfield: this system lacks the library libGL.so.1. Install")
    assert done.stderr.endswith(": sudo apt install libgl1 libglib2.0-0 libxcb1\n")


def test_another_package_that_fails_is_no_missing_library(tmp_path: Path) -> None:
    script = LACKING.format(problem="numpy.core.multiarray failed to import")
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=WAIT_S, check=False, cwd=tmp_path
    )
    assert done.returncode == 1
    assert "numpy.core.multiarray failed to import" in done.stderr


ON_CLOSED = """
import os, sys
os.closerange(0, 3)
os.execv(sys.executable, [sys.executable, "-m", "downfield", *sys.argv[1:]])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent in another way")
def test_a_program_without_input_and_output_serves_its_pages_and_ends_in_order(tmp_path: Path) -> None:
    """A closed terminal sends SIGHUP; what was closed at the start must not be a socket of the pages."""
    port = reserve_port()
    arguments = ["score", "--port", str(port), "--set", f"data={tmp_path / 'data'}"]
    process = subprocess.Popen([sys.executable, "-c", ON_CLOSED, *arguments], cwd=tmp_path)
    try:

        def answers() -> bool:
            assert process.poll() is None, "it ended"
            with (
                suppress(OSError),
                urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=WAIT_S) as answer,
            ):
                return bool(answer.status == 200)
            return False

        wait_until(answers, "the pages answer")
        process.send_signal(signal.SIGHUP)
        assert process.wait(WAIT_S) == 0
    finally:
        process.kill()
        process.wait()
    assert read_heads(tmp_path / "data.heads.jsonl")[-1].closed, "the store was not closed"


@pytest.mark.skipif(sys.platform == "win32", reason="names are Unicode there")
def test_names_beyond_ascii_are_read_in_an_ascii_locale(tmp_path: Path) -> None:
    """Of an argument, of a variable, and of a file and in it."""
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    environment["DOWNFIELD_GAME_ROSTER"] = "Игроки"
    (tmp_path / "Поле.toml").write_text('[calibration]\nfield = "Лужники"\n', encoding="utf-8")
    command = [sys.executable, "-m", "downfield", "config", "--set", "rig.table=Стол", "--config", "Поле.toml"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, timeout=WAIT_S, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    for key, name in (("table", "Стол"), ("roster", "Игроки"), ("field", "Лужники")):
        shown = name.encode("ascii", "backslashreplace")  # the terminal has ASCII only
        assert b'%s = "%s"' % (key.encode(), shown) in done.stdout, name


def test_a_name_that_the_locale_can_not_write_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: list[str] | None) -> None:
        "Папка".encode("latin-1")

    monkeypatch.setattr(main, "app", fail)
    with pytest.raises(UnicodeEncodeError):  # a fault of the program, where every name can be written
        main.run_command([])
    monkeypatch.setattr(sys, "getfilesystemencoding", lambda: "iso8859-1")
    assert main.run_command([]) == 2
    assert capsys.readouterr().err.startswith("downfield: Папка: this locale's file names (iso8859-1) lack some")


@pytest.mark.parametrize(("before", "after"), [(None, "1"), ("4", "4")])
def test_linear_algebra_starts_no_threads_unless_somebody_wants_them(
    before: str | None, after: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(main, "main", lambda: None)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", before or "")
    if before is None:
        monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    start()
    assert os.environ["OPENBLAS_NUM_THREADS"] == after
