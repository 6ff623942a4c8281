"""Runs any ultralytics model as a detector, on a processor or a GPU. Needs the extra `train`."""

from __future__ import annotations

import math
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from downfield.core.arrays import Image
from downfield.core.errors import InputError, MissingExtraError
from downfield.core.frame import Detection, DetectionKind, Pixel
from downfield.models.card import KINDS
from downfield.models.telemetry import disable_telemetry

_CORNERS = 4


class UltralyticsDetector:
    """A pose or detection model of ultralytics.

    Classes are matched by name with upright, fallen, ball and hand; other names can be mapped. A pose model's first
    four keypoints are the corners, in the order of `Detection`, the fifth the helmet; without keypoints: boxes.

    Args:
        path: the weights. Code in them is not run: a model with layers that ultralytics does not know can't be opened.
        device: in ultralytics' notation: ``"cpu"``, ``"0"`` for the first GPU; None lets it choose.
        threads: number of threads that torch may use on a processor.
        threshold: score from which detections are reported.
        input_px: the longer side of the model's input.
        kinds: kind of detection for each class name; other classes are left out.

    Raises:
        MissingExtraError: ultralytics is not installed.
        InputError: there is no such file, it is not an ultralytics model, or none of its classes is known.
    """

    def __init__(
        self,
        path: Path,
        *,
        device: str | None = None,
        threads: int = 1,
        threshold: float = 0.3,
        input_px: int = 960,
        kinds: dict[str, DetectionKind] | None = None,
    ) -> None:
        if find_spec("ultralytics") is None:
            raise MissingExtraError("train", f"opening {path.name} with ultralytics")
        if not path.is_file():
            raise InputError(f"{path}: there is no such file.")
        disable_telemetry()
        import torch
        from ultralytics import YOLO
        from ultralytics.nn import tasks

        tasks.SAFE_LOAD = True  # whoever imported ultralytics first may have done so without the setting
        torch.set_num_threads(threads)
        try:
            self._model: Any = YOLO(str(path))
            names: dict[int, str] = self._model.names
        except Exception as error:  # a broken file can make torch and pickle raise anything
            raise InputError(f"{path}: ultralytics can't open it: {error}") from None
        wanted = kinds or {kind: kind for kind in KINDS}
        self._kinds = {number: wanted[name] for number, name in names.items() if name in wanted}
        if not self._kinds:
            known = ", ".join(names.values())
            raise InputError(f"{path}: none of its classes ({known}) is {', '.join(wanted)}. Map them with `kinds`.")
        self.name = f"{path.name} on ultralytics"
        # nms=False asks for the one-to-one branch of networks that have one; others run their usual suppression.
        self._options = {"imgsz": input_px, "conf": threshold, "device": device, "nms": False, "verbose": False}

    def detect(self, image: Image) -> tuple[Detection, ...]:
        """Return everything detected in one picture, uint8 (height, width, 3), best first."""
        result = self._model.predict(image, **self._options)[0].cpu().numpy()
        rows = np.argsort(-result.boxes.conf, kind="stable")
        return tuple(self._detection(result, int(row)) for row in rows if int(result.boxes.cls[row]) in self._kinds)

    def _detection(self, result: Any, row: int) -> Detection:
        kind = self._kinds[int(result.boxes.cls[row])]
        # ultralytics measures from the picture's outer edge.
        left, top, right, bottom = (float(value) - 0.5 for value in result.boxes.xyxy[row])
        score, box = float(result.boxes.conf[row]), (left, top, right, bottom)
        if result.keypoints is None or kind in ("ball", "hand"):
            return Detection(kind, score, box)
        points: list[Pixel] = [(float(x) - 0.5, float(y) - 0.5) for x, y in result.keypoints.xy[row]]
        if len(points) < _CORNERS or not all(math.isfinite(value) for point in points for value in point):
            return Detection(kind, score, box)
        scores = result.keypoints.conf
        visible = [float(value) for value in scores[row]] if scores is not None else [1.0] * len(points)
        helmet = points[_CORNERS] if len(points) > _CORNERS else None
        helmet_score = visible[_CORNERS] if len(points) > _CORNERS else 0.0
        return Detection(kind, score, box, tuple(points[:4]), tuple(visible[:4]), (), helmet, helmet_score)
