"""Where the camera is now: the calibration taken along with every shake, and whether it still holds."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from downfield.calibration.calibration import Calibration
from downfield.calibration.drift import DriftState, DriftWatch
from downfield.calibration.errors import CalibrationError
from downfield.calibration.shake import ShakeTracker, moved_camera
from downfield.vision.frame import Frame

Array = NDArray[np.float64]

_SAYS: Final[dict[DriftState, str]] = {
    "bumped": "the camera was moved",
    "resolving": "the camera was moved: calibrate it again",
    "lost": "the field is not in the picture",
}
_STILL_PX: Final = 0.02  # a shake smaller than it is measured
_LEAST_SHARE: Final = 0.25  # of the print's corners: with less nothing is known of the shake


class CameraWatch:
    """Follows the print from the first picture on, in which the camera is taken to be where it was calibrated.

    Args:
        calibration: of the camera.

    """

    def __init__(self, calibration: Calibration) -> None:
        self._calibration = calibration
        self._last = calibration
        self._tracker: ShakeTracker | None = None
        self._drift = DriftWatch()
        self._middle_px: Array | None = None
        self.moved_px: float | None = None
        """How far the print moved since the frame before; None where it is not followed."""

    def see(self, frame: Frame) -> tuple[Calibration, tuple[str, ...]]:
        """The calibration as it holds for a frame, and why it can't be trusted, if it can't."""
        camera, field = self._calibration.camera, self._calibration.field
        if self._tracker is None:
            try:
                self._tracker = ShakeTracker(frame.image, camera, field)
            except CalibrationError:
                return self._calibration, ("too little of the print is seen to follow it",)
            return self._calibration, ()
        shake = self._tracker.track(frame.image)
        followed = shake.share >= _LEAST_SHARE
        before, self._middle_px = self._middle_px, shake.middle_px if followed else None
        self.moved_px = None
        if before is not None and self._middle_px is not None:
            self.moved_px = float(np.linalg.norm(self._middle_px - before))
        drift = self._drift.update(shake, frame.t_ns)
        if followed and shake.largest_px > _STILL_PX:
            self._last = replace(self._calibration, camera=moved_camera(camera, shake, field))
        return self._last, () if drift.trusted else (_SAYS[drift.state],)
