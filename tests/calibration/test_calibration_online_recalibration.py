from __future__ import annotations

import dataclasses

import cv2
import numpy as np
import pytest
from calibration_scenes import TUDOR, Scene, photograph, worst_error_yd

from downfield.calibration.calibration import Calibration
from downfield.calibration.field.lines.line_chains import clearest_channel
from downfield.calibration.field.solution import FieldSolution
from downfield.calibration.field.solver import solve_field
from downfield.calibration.field.verification import gather_evidence
from downfield.calibration.online import recalibration
from downfield.calibration.online.recalibration import recalibrate
from downfield.calibration.online.shake import Shake, ShakeTracker
from downfield.core.errors import CalibrationError

NOTHING = Shake(np.eye(2, 3), np.zeros(2), 0.0, 0.0)


@pytest.fixture(scope="module")
def before() -> Scene:
    return photograph()


@pytest.fixture(scope="module")
def found(before: Scene) -> FieldSolution:
    return solve_field([before.image], [TUDOR], known=True)


@pytest.mark.parametrize("followed", [True, False])
def test_a_bumped_camera_is_solved_again(before: Scene, followed: bool) -> None:
    rx, ry, rz = before.camera.rotation
    tx, ty, tz = before.camera.translation_mm
    bumped = dataclasses.replace(
        before.camera, rotation=(rx + 0.004, ry - 0.003, rz), translation_mm=(tx + 6.0, ty - 4.0, tz + 3.0)
    )
    after = photograph(camera=bumped, seed=1)
    sigma = [1.0, 1.0, 1.5, 1.5, 3e-3, 3e-3, 2e-4, 2e-4, 3e-3, *([0.1] * 10)]
    covariance = np.diag(np.square(sigma))
    known = Calibration(TUDOR, before.camera, "field", covariance=tuple(map(tuple, covariance.tolist())))
    shake = ShakeTracker(before.image, before.camera, TUDOR).track(after.image) if followed else NOTHING
    assert not followed or shake.share > 0.4
    found = recalibrate([after.image], known, shake, made_from=["frame 90"])
    assert worst_error_yd(found.camera, after) < 0.04
    assert found.made_from == ("frame 90",)


def test_lines_far_from_where_the_field_was_are_not_taken_for_it(
    before: Scene, found: FieldSolution, monkeypatch: pytest.MonkeyPatch
) -> None:
    x_mm, y_mm, z_mm = before.camera.translation_mm
    near = dataclasses.replace(before.camera, translation_mm=(x_mm / 2.5, y_mm / 2.5, z_mm / 2.5))
    wrong = dataclasses.replace(found, fit=dataclasses.replace(found.fit, camera=near))
    monkeypatch.setattr(recalibration, "solve_field", lambda *_, **__: wrong)
    with pytest.raises(CalibrationError, match="far from where it was"):
        recalibrate([before.image], Calibration(TUDOR, before.camera, "field"), NOTHING, made_from=["frame 0"])


def test_a_field_that_is_seen_in_its_place_is_not_taken_for_other_lines(
    before: Scene, found: FieldSolution, monkeypatch: pytest.MonkeyPatch
) -> None:
    x_mm, y_mm, z_mm = before.camera.translation_mm
    aside = dataclasses.replace(before.camera, translation_mm=(x_mm, y_mm + 9 * TUDOR.mm_per_yd_y, z_mm))
    evidence = gather_evidence(clearest_channel(before.image), aside, TUDOR, 1.8)
    wrong = dataclasses.replace(found, fit=dataclasses.replace(found.fit, camera=aside), evidence=evidence)
    monkeypatch.setattr(recalibration, "solve_field", lambda *_, **__: wrong)
    with pytest.raises(CalibrationError, match="far from where it was"):
        recalibrate([before.image], Calibration(TUDOR, before.camera, "field"), NOTHING, made_from=["frame 0"])
    px_mm = (
        z_mm / before.camera.lens.focal_px[0]
    )  # a little off, as blur makes it, what is seen nearly as well is believed
    near = dataclasses.replace(before.camera, translation_mm=(x_mm + 2.5 * px_mm, y_mm, z_mm))
    blurred = dataclasses.replace(found.evidence, line_ends=found.evidence.line_ends - 0.5)
    nearby = dataclasses.replace(found, fit=dataclasses.replace(found.fit, camera=near), evidence=blurred)
    monkeypatch.setattr(recalibration, "solve_field", lambda *_, **__: nearby)
    known = Calibration(TUDOR, before.camera, "field")
    assert recalibrate([before.image], known, NOTHING, made_from=["frame 0"]).camera == near
    elsewhere = photograph(camera=aside)  # where the field did move, its new place is taken
    moved = dataclasses.replace(wrong, evidence=gather_evidence(clearest_channel(elsewhere.image), aside, TUDOR, 1.8))
    monkeypatch.setattr(recalibration, "solve_field", lambda *_, **__: moved)
    assert recalibrate([elsewhere.image], known, NOTHING, made_from=["frame 0"]).camera == aside


def test_a_sideline_under_hands_is_placed_by_the_ends_of_the_yard_lines() -> None:
    before, after = photograph(), photograph(seed=1)
    known = Calibration(TUDOR, before.camera, "field")
    image = after.image.copy()
    for x_mm in np.linspace(0.06, 0.94, 40) * TUDOR.length_mm:  # what lies along it hides it
        x, y = after.camera.to_pixels([(x_mm, 0.0)])[0]
        cv2.circle(image, (round(x), round(y)), 14, (70, 110, 70), -1)
    shake = ShakeTracker(before.image, before.camera, TUDOR).track(image)
    found = recalibrate([image], known, shake, made_from=["frame 0"])
    assert worst_error_yd(found.camera, after) < 0.04
    again = recalibrate([image], known, NOTHING, made_from=["frame 0"])
    assert worst_error_yd(again.camera, after) < 0.04
