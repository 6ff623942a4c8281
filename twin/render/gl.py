"""A headless OpenGL context: EGL, or OSMesa where there is no EGL.

MuJoCo chooses its platform from the environment when it is first imported, and chooses wrongly on a machine without a
screen; so the context is created here, independent of MuJoCo's import.
"""

from __future__ import annotations

import ctypes
import importlib
from typing import Any

from downfield.core.errors import DownfieldError

_LIBRARIES = {"mujoco.egl": ("libEGL.so.1", "libGL.so.1"), "mujoco.osmesa": ("libOSMesa.so.8", "libGL.so.1")}
_MISSING = (
    "the renderer needs EGL and GL: install libegl1 libegl-mesa0 libgl1-mesa-dri libgl1 (Debian's names; with "
    "libosmesa6 in place of the first two it draws as well, more slowly)"
)


def open_context(width: int, height: int) -> Any:
    """Return a current context for MuJoCo, with ``make_current()`` and ``free()``.

    Raises:
        DownfieldError: this machine has neither EGL nor OSMesa; names the packages.

    """
    reason = ""
    for module, libraries in _LIBRARIES.items():
        if not all(_loads(library) for library in libraries):
            continue
        try:
            context = importlib.import_module(module).GLContext(width, height)
            context.make_current()
        except (ImportError, RuntimeError, AttributeError, OSError) as error:
            reason = f" ({module}: {error})"
        else:
            return context
    raise DownfieldError(_MISSING + reason)


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True
