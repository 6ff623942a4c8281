"""Keeps third-party libraries from reporting their use.

OpenVINO, NNCF, ONNX Runtime and ultralytics each look up hosts, send what is run, or leave an identifier in the home
folder, as soon as they are imported.
"""

from __future__ import annotations

import atexit
import os
import secrets
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final

_OFF: Final = {
    "ORT_DISABLE_TELEMETRY": "1",
    "ULTRALYTICS_SAFE_LOAD": "true",  # no code in a file of weights is run
    "YOLO_OFFLINE": "true",
    "YOLO_AUTOINSTALL": "false",
    "YOLO_VERBOSE": "false",
}
_CONFIG_FOLDER: Final = "YOLO_CONFIG_DIR"


def disable_telemetry() -> None:
    """Turn off what these libraries send and store, and that ultralytics runs what is in a file of weights.

    Call it before any of them is imported, in every process.

    Child processes inherit the environment. ultralytics writes its settings into a temporary folder, which is removed
    at exit, unless `YOLO_CONFIG_DIR` names one.
    """
    # OpenVINO and NNCF do without this module. With it they report, from a fork that can hang and keep the process from
    # ending, before any setting of theirs is read.
    sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]
    os.environ.update(_OFF)
    if _CONFIG_FOLDER not in os.environ:
        # Made by ultralytics alone, when it is imported: most processes never do.
        folder = Path(tempfile.gettempdir()) / f"downfield-{secrets.token_hex(8)}"
        os.environ[_CONFIG_FOLDER] = str(folder)
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
