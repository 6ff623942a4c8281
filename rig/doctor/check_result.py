"""The result of one check of the doctor."""

from __future__ import annotations

from typing import Literal

from downfield.core.records import record

CheckState = Literal["ok", "warning", "fault"]


@record
class CheckResult:
    """The result of one check.

    Attributes:
        subject: the part checked: ``"camera"``, ``"light"``, ``"focus"``, ``"calibration"``, ``"network"``,
            ``"disk"``, ``"store"``, ``"port"`` or ``"time"``.
        state: with a fault the rig does not work; with a warning it works less well than it could.
        text: the finding.
        remedy: what to do about it; empty if nothing needs to be done.

    """

    subject: str
    state: CheckState
    text: str
    remedy: str = ""
