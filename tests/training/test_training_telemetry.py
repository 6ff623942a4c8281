"""Training, exporting and learning look up no host and leave nothing in the home folder.

ultralytics, NNCF, OpenVINO and ONNX Runtime would each do so when they are imported.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("ultralytics")
pytest.importorskip("nncf")

IMPORTED = """
import importlib, socket, sys, threading

looked_up = []

def refuse(host, *_rest, **_named):
    looked_up.append(host)
    raise OSError("no network in this test")

socket.getaddrinfo = refuse
for name in sys.argv[1:]:
    importlib.import_module(name)
for thread in threading.enumerate():
    if thread is not threading.current_thread():
        thread.join(1)
print("looked up:", looked_up)
"""


@pytest.mark.parametrize(
    "modules",
    [
        ("downfield.training.export.onnx",),
        ("downfield.training.keep.learning", "downfield.training.keep.tracing"),
        ("downfield.training.learn_command", "downfield.training.own_table"),
        ("downfield.training", "openvino", "onnxruntime", "ultralytics", "nncf"),
    ],
)
def test_what_trains_reports_nothing_to_anyone(modules: tuple[str, ...], tmp_path: Path) -> None:
    home, temporary = tmp_path / "home", tmp_path / "temporary"
    home.mkdir()
    temporary.mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "ORT_", "YOLO_"))}
    ran = subprocess.run(
        [sys.executable, "-c", IMPORTED, *modules],
        env={**kept, "HOME": str(home), "TMPDIR": str(temporary), "CI": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.splitlines()[-1] == "looked up: []"
    assert not [path.relative_to(home) for path in home.rglob("*")]
    assert not list(temporary.iterdir()), "the settings that ultralytics wrote are gone"
