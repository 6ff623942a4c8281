"""What the doctor finds."""

from __future__ import annotations

from typing import Literal

from downfield.core.records import record

State = Literal["ok", "warning", "fault"]


@record
class CheckResult:
    """One thing that was looked at.

    Attributes:
        subject: what: ``"camera"``, ``"light"``, ``"focus"``, ``"calibration"``, ``"network"``, ``"disk"``, ``"port"``
            or ``"time"``.
        state: how it is; with a fault the rig does not work, with a warning not as well as it could.
        text: what was found.
        remedy: what to do about it; empty when nothing need be done.

    """

    subject: str
    state: State
    text: str
    remedy: str = ""
