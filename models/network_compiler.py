"""Compiles networks for this processor, and keeps what was compiled on disk: a later start only reads it.

OpenVINO takes most of a start of the rig for that, and again in its second process. It can keep compiled networks by
itself, but writes them in place: another process that reads one at that moment reads half of it. Here a file appears
whole or not at all, and its checksum is checked.
"""

from __future__ import annotations

import hashlib
import io
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from downfield.core.files.private_files import replace_private_file
from downfield.core.platform.folders import user_cache_folder

_DEVICE: Final = "CPU"
_SUFFIX: Final = ".network"
_UNUSED_S: Final = 60 * 86_400
"""Files not opened for two months are of an older version or network, and deleted."""

_TOUCHED_S: Final = 86_400
"""A file's time says on which day it was last opened."""


class NetworkCompiler:
    """Compiles one ONNX file for one number of pictures, or for any up to one.

    A network for any number takes little more memory than one for a single number, since its weights are there once.
    Each number's code is made when it first runs.

    Args:
        core: OpenVINO's.
        options: of OpenVINO for the compiled network.
        folder: keeps compiled networks; None for that of this user. If it can't be read or written, nothing is kept.

    Raises:
        OSError: the file can't be read.
    """

    def __init__(self, core: Any, path: Path, options: Mapping[str, Any], folder: Path | None = None) -> None:
        self._core, self._path, self._options = core, path, dict(options)
        self._folder = user_cache_folder("downfield") / "networks" if folder is None else folder
        made_for = (
            hashlib.sha256(path.read_bytes()).hexdigest(),
            str(core.get_versions(_DEVICE)[_DEVICE].build_number),
            core.get_property(_DEVICE, "FULL_DEVICE_NAME"),
            sorted(core.get_property(_DEVICE, "OPTIMIZATION_CAPABILITIES")),
            sorted(self._options.items()),
        )
        self._key = hashlib.sha256(repr(made_for).encode()).hexdigest()[:32]

    def compiled(self, pictures: int, *, up_to: bool = False) -> Any:
        """Return the network compiled for a number of pictures, or for any number up to that: a ``CompiledModel``.

        Raises:
            RuntimeError, ValueError: the file is no network of pictures.
        """
        file = self._folder / f"{self._key}-{'up-to-' if up_to else ''}{pictures}{_SUFFIX}"
        kept = _read(file)
        if kept is not None:
            with suppress(RuntimeError):  # what OpenVINO does not take is compiled again
                return self._core.import_model(io.BytesIO(kept), _DEVICE, self._options)
        height, width, colors = (int(side.get_length()) for side in list(self._model.input(0).get_partial_shape())[1:])
        self._model.reshape([(1, pictures) if up_to else pictures, height, width, colors])
        compiled = self._core.compile_model(self._model, _DEVICE, self._options)
        with suppress(OSError, RuntimeError):
            _write(file, compiled.export_model().getvalue())
        return compiled

    @cached_property
    def _model(self) -> Any:
        return self._core.read_model(self._path)


def _read(file: Path) -> bytes | None:
    """Return what was kept, or None if there is nothing whole."""
    try:
        content = file.read_bytes()
        if time.time() - file.stat().st_mtime > _TOUCHED_S:
            file.touch()
    except OSError:
        return None
    size = hashlib.sha256().digest_size
    return content[size:] if hashlib.sha256(content[size:]).digest() == content[:size] else None


def _write(file: Path, compiled: bytes) -> None:
    """Keep a compiled network, and delete those that are no longer opened.

    Raises:
        OSError: it can't be written.
    """
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    replace_private_file(file, hashlib.sha256(compiled).digest() + compiled)
    for other in file.parent.glob(f"*{_SUFFIX}"):
        with suppress(OSError):
            if time.time() - other.stat().st_mtime > _UNUSED_S:
                other.unlink()
