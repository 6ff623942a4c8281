"""What runs networks looks up no host, sends nothing and leaves nothing in the home folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

OPENED = """
import multiprocessing, socket, sys, threading

looked_up = []

def refuse(host, *_rest, **_named):
    looked_up.append(host)
    raise OSError("no network in this test")

socket.getaddrinfo = refuse
from downfield.models.card import BUNDLED
from downfield.models.loading import open_detector

print(open_detector(BUNDLED, threads=1, backend=sys.argv[1]).name)
threading.Event().wait(0.5)
print(len(multiprocessing.active_children()), len(looked_up))
"""


@pytest.mark.parametrize("backend", ["openvino", "onnxruntime"])
def test_opening_a_network_reports_nothing_to_anyone(backend: str, tmp_path: Path) -> None:
    """OpenVINO reports its import from a fork that can keep the rig from ending; ONNX Runtime keeps a device id."""
    pytest.importorskip(backend)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "ORT_", "YOLO_"))}
    output = subprocess.run(
        [sys.executable, "-c", OPENED, backend],
        env={**kept, "HOME": str(tmp_path), "CI": ""},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert backend in " ".join(output)
    assert output[-2:] == ["0", "0"]
    assert not list(tmp_path.iterdir())
