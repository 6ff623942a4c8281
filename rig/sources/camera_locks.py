"""Locking a camera's exposure, focus and white balance, and reading back what it made of that.

What a camera adjusts by itself it adjusts when a hand comes into the picture: brightness jumps, the focus hunts,
colors drift. So all three are held unless the configuration says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from downfield.rig.sources import v4l2
from downfield.rig.sources.v4l2 import DeviceControls

Lock = Literal["hold", "auto"] | int
"""``"hold"``: manual, at the value it has now; ``"auto"``: the camera's; a number: manual, at that value."""


@dataclass(frozen=True, slots=True)
class CameraLocks:
    """What to do with each.

    Attributes:
        exposure: in units of 0.1 ms.
        focus: in the camera's own units.
        white_balance: in kelvin.

    """

    exposure: Lock = "hold"
    focus: Lock = "hold"
    white_balance: Lock = "hold"


@dataclass(frozen=True, slots=True)
class _Kind:
    """How a thing is locked: the automatic's control with its values for off and on, and the value's control."""

    name: str
    automatic: int
    off: int
    on: int
    value: int


_EXPOSURE: Final = _Kind(
    "exposure", v4l2.EXPOSURE_AUTO, v4l2.EXPOSURE_MANUAL, v4l2.EXPOSURE_APERTURE_PRIORITY, v4l2.EXPOSURE
)
_FOCUS: Final = _Kind("focus", v4l2.FOCUS_AUTO, 0, 1, v4l2.FOCUS)
_WHITE: Final = _Kind("white balance", v4l2.WHITE_BALANCE_AUTO, 0, 1, v4l2.WHITE_BALANCE)


def lock(controls: DeviceControls, locks: CameraLocks) -> list[str]:
    """Lock a camera.

    Returns:
        What it refused, one line each; empty when all is as asked.

    """
    notes = []
    for kind, wish in ((_EXPOSURE, locks.exposure), (_FOCUS, locks.focus), (_WHITE, locks.white_balance)):
        notes += [f"{kind.name}: {problem}" for problem in _lock(controls, kind, wish)]
    if controls.find(v4l2.EXPOSURE_SLOWS_RATE) is not None:
        try:
            if controls.set(v4l2.EXPOSURE_SLOWS_RATE, 0) != 0:
                notes.append("exposure: it lowers the frame rate in bad light and won't be told not to")
        except OSError:
            notes.append("exposure: it lowers the frame rate in bad light and won't be told not to")
    return notes


def _lock(controls: DeviceControls, kind: _Kind, wish: Lock) -> Iterator[str]:
    value = controls.find(kind.value)
    yield from _automatic(controls, kind, wish, fixed=value is not None)
    if not isinstance(wish, int):
        return
    if value is None:
        yield f"asked for {wish}, but it has no such control"
        return
    if not value.lowest <= wish <= value.highest:
        yield f"asked for {wish}, but it takes {value.lowest} to {value.highest}"
        return
    try:
        now = controls.set(kind.value, wish)
    except OSError as error:
        yield f"asked for {wish}, it refused: {error.strerror}"
        return
    if abs(now - wish) > value.step:
        yield f"asked for {wish}, it says {now}"


def _automatic(controls: DeviceControls, kind: _Kind, wish: Lock, *, fixed: bool) -> Iterator[str]:
    """Switch the automatic; a camera without one has a fixed value, and nothing need be done."""
    wanted = kind.on if wish == "auto" else kind.off
    if controls.find(kind.automatic) is None:
        if wish == "auto" and fixed:
            yield "it has no automatic"
        return
    try:
        now = controls.set(kind.automatic, wanted)
    except OSError as error:
        yield f"its automatic could not be switched {'on' if wish == 'auto' else 'off'}: {error.strerror}"
        return
    if now != wanted:
        yield f"its automatic stays {'off' if wish == 'auto' else 'on'}"
