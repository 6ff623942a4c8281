"""Traced samples: what the windows say of figures and balls, and what cameras make of light."""

from __future__ import annotations

import dataclasses

import cv2
import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numba")

from downfield.core.field.model import preset  # noqa: E402
from downfield.models.refiner import PATCH_PX, to_patch  # noqa: E402
from downfield.training.data.objects import CROP_PX  # noqa: E402
from downfield.training.data.samples import FALLEN, UPRIGHT  # noqa: E402
from downfield.training.keep.plans import TracingPlan  # noqa: E402
from downfield.training.keep.tracing import trace_table  # noqa: E402
from downfield.training.traced.development import FIELDS, develop, sensor_row, through_jpeg  # noqa: E402
from downfield.training.traced.tables import TracedTable, _ViewLabeler, draw_table, plan_crops, plan_patches  # noqa: E402
from downfield.twin.randomization import tables  # noqa: E402
from downfield.twin.table.appearance import Processing, Sensor  # noqa: E402

TINY = TracingPlan(1e9, seed=3, scenes=1, crops=1, crop_paths=1, patch_paths=1, webcams=1)
STILL = Sensor(noise=0.0, blur_px=0.05, jpeg=100)


@pytest.fixture(scope="module")
def table() -> TracedTable:
    return draw_table(5, 0, 2)


def test_a_table_is_a_function_of_seed_and_number(table: TracedTable) -> None:
    again = draw_table(5, 0, 2)
    np.testing.assert_array_equal(again.scenes[0].solids, table.scenes[0].solids)
    np.testing.assert_array_equal(again.views[1].objects.points, table.views[1].objects.points)
    other = draw_table(5, 1, 1)
    assert (
        other.scenes[0].solids.shape != table.scenes[0].solids.shape
        or (other.scenes[0].head != table.scenes[0].head).any()
    )


def test_crops_show_objects_where_their_windows_say(table: TracedTable) -> None:
    plan = plan_crops(table, 3, np.random.default_rng(1))
    kinds, points, boxes, shown = plan.truth
    assert plan.inverses.shape == (6, 2, 3)
    assert plan.sensors.shape[:2] == (1, 6)
    for row, view in enumerate(plan.views):
        own = table.views[view].objects
        for kind, corners in zip(kinds[row], points[row], strict=True):
            if kind not in (UPRIGHT, FALLEN) or (corners[:4, 2] == 0).any():
                continue
            in_frame = corners[:4, :2] @ plan.inverses[row][:, :2].T + plan.inverses[row][:, 2]
            off = np.abs(own.points[:, None, :4, :2] - in_frame[None, None]).max(axis=(2, 3))
            mirrored = np.abs(own.points[:, None, (1, 0, 3, 2), :2] - in_frame[None, None]).max(axis=(2, 3))
            assert min(off.min(), mirrored.min()) < 0.05
    known = kinds >= 0
    assert (boxes[known] >= -0.5).all()
    assert (boxes[known] <= CROP_PX - 0.5).all()
    assert ((shown >= 0) & (shown <= 1)).all()


def test_yard_numbers_are_places_that_may_be_taken_for_a_figure() -> None:
    field, players = preset("tudor-620"), tables.draw_players(7, variety="wide")
    appearance = tables.draw_table(7, players, variety="wide", field=field)
    numbers_mm = [(one.x_yd * field.mm_per_yd_x, one.y_yd * field.mm_per_yd_y, 0.0) for one in field.numbers()]
    places_mm = _ViewLabeler(appearance, players, np.random.default_rng(1))._distractors
    off_mm = np.linalg.norm(places_mm[:, None] - np.array(numbers_mm), axis=2).min(axis=1)
    assert (off_mm < 1e-6).sum() == 4


def test_patches_turn_figures_lengthwise_and_say_which_way_they_face(table: TracedTable) -> None:
    plan = plan_patches(table, np.random.default_rng(1))
    points, flags, flip, fallen, figure, ball = plan.truth
    real = figure > 0
    assert 0.3 < real.mean() < 0.95
    ahead = points[real, :2].mean(axis=1) - points[real, 2:4].mean(axis=1)
    assert (ahead[:, 0] >= 0).all(), "the patch's order: front ahead"
    assert 0.2 < flip[real].mean() < 0.8
    assert (flags[~real] == 0).all()
    assert (fallen <= figure).all()
    shows = ball[:, 2] > 0
    assert (np.abs(ball[shows, :2] - (PATCH_PX - 1) / 2) <= PATCH_PX / 2).all()
    back = plan.inverses[real]
    corners = np.einsum("nij,nkj->nki", back[:, :, :2], points[real, :4]) + back[:, None, :, 2]
    own = np.concatenate([view.objects.points[:, :4, :2] for view in table.views])
    off = np.abs(own[None, :, [0, 1, 2, 3]] - corners[:, None]).max(axis=(2, 3)).min(axis=1)
    turned = np.abs(own[None, :, [2, 3, 0, 1]] - corners[:, None]).max(axis=(2, 3)).min(axis=1)
    assert np.minimum(off, turned).max() < 0.05
    forward = np.linalg.inv(back[0, :, :2])
    matrix = np.column_stack([forward, -forward @ back[0, :, 2]])
    np.testing.assert_allclose(to_patch(corners[0], matrix), points[real][0, :4], atol=1e-3)


def test_traced_crops_and_patches_are_pictures_with_figures() -> None:
    samples = trace_table(TINY, 0)
    crops, patches = samples.frames, samples.patches
    assert patches is not None
    assert crops.image.shape[1:] == (CROP_PX, CROP_PX, 3)
    assert crops.image.dtype == torch.uint8
    assert crops.image.float().std() > 5
    assert patches.image.shape[1:] == (PATCH_PX, PATCH_PX, 3)
    assert len(patches.image) == len(patches.figure)
    assert patches.image[patches.figure > 0].float().std(dim=(1, 2, 3)).median() > 5


def test_a_table_is_traced_again_as_it_was() -> None:
    one, same, other = (trace_table(TINY, number).frames for number in (1, 1, 2))
    assert torch.equal(one.image, same.image)
    assert one.image.shape != other.image.shape or not torch.equal(one.image, other.image)


def test_each_webcam_develops_the_same_light_in_its_own_way() -> None:
    samples = trace_table(dataclasses.replace(TINY, webcams=2), 0)
    assert samples.patches is not None
    for batch in (samples.frames, samples.patches):
        half = len(batch.image) // 2
        for part in batch[1:]:
            torch.testing.assert_close(part[:half], part[half:])
        first, second = batch.image[:half].float(), batch.image[half:].float()
        assert float((first - second).abs().mean()) > 2, "two cameras never take the same picture"
        # Light is the same: where one picture is bright, the other is.
        alike = torch.corrcoef(torch.stack([first.flatten(), second.flatten()]))[0, 1]
        assert float(alike) > 0.5


def developed(sensor: Sensor, light: float = 0.5, step: float = 1.0, side: int = 32) -> np.ndarray:
    rows = torch.from_numpy(np.stack([sensor_row(sensor, (640, 360), 0.0)]))
    picture = develop(
        torch.full((1, side, side, 3), light),
        rows,
        torch.tensor([[[step, 0.0, 304.0], [0.0, step, 164.0]]]),
        generator=torch.Generator().manual_seed(1),
    )
    assert picture.dtype == torch.uint8
    out: np.ndarray = picture[0].numpy()
    return out


def test_a_camera_shows_light_by_the_display_curve() -> None:
    assert developed(STILL).mean() == pytest.approx(255 * 0.5 ** (1 / 2.2), abs=1.5)
    red = developed(dataclasses.replace(STILL, white_balance=(1.2, 1.0, 0.8))).mean(axis=(0, 1))
    assert red[2] > red[1] > red[0], "blue, green, red"
    assert len(sensor_row(STILL, (640, 360), 0.0)) == len(FIELDS)


@pytest.mark.parametrize("turn", [0.0, 0.7, 2.6])
def test_a_lens_fringes_colors_outward_from_the_middle_of_the_frame(turn: float) -> None:
    """In a window turned anyhow, red lies farther out than green and blue farther in, by pixels of the frame."""
    size, step, side, corner_px = (1280, 720), 0.8, 65, 2.4
    rotation = step * np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    center = np.array([1100.0, 640.0])
    inverse = np.column_stack([rotation, center - rotation @ (32, 32)]).astype(np.float32)
    y, x = np.mgrid[:side, :side]
    spot = 0.2 + 0.6 * np.exp(-((x - 32) ** 2 + (y - 32) ** 2) / (2 * 4.0**2))
    light = torch.from_numpy(np.repeat(spot[None, :, :, None], 3, axis=3).astype(np.float32))
    sensor = dataclasses.replace(STILL, processing=Processing(aberration_px=corner_px))
    rows = torch.from_numpy(np.stack([sensor_row(sensor, size, 0.0)]))
    planes = develop(light, rows, torch.from_numpy(inverse[None]))[0].numpy().astype(float)
    weights = np.clip(planes - 140, 0, None)
    blue, green, red = (
        np.array([(plane * x).sum(), (plane * y).sum()]) / plane.sum() @ rotation.T
        for plane in np.moveaxis(weights, 2, 0)
    )
    out = center - np.array([639.5, 359.5])
    expected = corner_px * out / np.hypot(639.5, 359.5)
    np.testing.assert_allclose(red - green, expected, atol=0.15)
    np.testing.assert_allclose(blue - green, -expected, atol=0.15)


def test_noise_averages_out_in_a_smaller_picture() -> None:
    noisy = dataclasses.replace(STILL, noise=8.0)
    whole, half = developed(noisy), developed(noisy, step=2.0)
    assert 5 < whole.std() < 12
    assert half.std() < 0.75 * whole.std()


def test_a_camera_without_color_gives_grays() -> None:
    gray = dataclasses.replace(STILL, white_balance=(1.2, 1.0, 0.8), processing=Processing(saturation=0.0))
    assert np.ptp(developed(gray).astype(int), axis=2).max() <= 1


@pytest.mark.parametrize("quality", [35, 70, 92])
def test_a_jpeg_loses_as_much_as_libjpeg(quality: int) -> None:
    rng = np.random.default_rng(2)
    image = np.asarray(cv2.GaussianBlur(rng.integers(0, 256, (64, 64, 3), dtype=np.uint8), (0, 0), 1.2), dtype=np.uint8)
    _, packed = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])
    usual = np.asarray(cv2.imdecode(packed, cv2.IMREAD_COLOR), dtype=float)
    light = torch.from_numpy(image[..., ::-1].copy()).permute(2, 0, 1)[None].float()
    ours = through_jpeg(light, torch.tensor([float(quality)]))[0].permute(1, 2, 0).numpy()[..., ::-1]
    lost = (np.abs(usual - image).mean(), np.abs(ours - image).mean())
    assert lost[1] == pytest.approx(lost[0], rel=0.2)
    assert through_jpeg(light, torch.tensor([100.0])).equal(light)
