"""Ctrl-C while Python still imports the command ends it without a word."""

from __future__ import annotations

import signal
import subprocess
import sys
from importlib.metadata import version

import pytest

INTERRUPTED_IMPORT = """
import importlib.abc, os, signal, sys, time
class Interrupting(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "downfield.rig.cli.main":
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)
sys.meta_path.insert(0, Interrupting())
sys.argv = ["downfield", "--version"]
signal.signal(signal.SIGINT, {handler})
from downfield.rig.cli.start import start
start()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent in another way")
@pytest.mark.parametrize(
    ("handler", "status", "output"),
    [("signal.default_int_handler", -signal.SIGINT, ""), ("signal.SIG_IGN", 0, f"downfield {version('downfield')}\n")],
)
def test_ctrl_c_during_the_import_prints_no_traceback(handler: str, status: int, output: str) -> None:
    script = INTERRUPTED_IMPORT.format(handler=handler)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (status, output, "")
