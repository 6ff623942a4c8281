"""Learning a table of one's own: what tracks teach is where they say, and the network comes back as it went out.

Needs torch, ultralytics, ONNX and NNCF: `make test-training` runs it in an environment of its own.
"""

from __future__ import annotations

from itertools import count
from pathlib import Path
from types import SimpleNamespace

import av
import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("ultralytics")
pytest.importorskip("nncf")

from twin_tables import FIELD, SQUARE, camera_over  # noqa: E402

from downfield.calibration.calibration import Calibration, read_calibration  # noqa: E402
from downfield.capture.sources.file_sources import bundled_demo  # noqa: E402
from downfield.core.arrays import Array, Image  # noqa: E402
from downfield.core.errors import InputError  # noqa: E402
from downfield.core.footprint import Footprint  # noqa: E402
from downfield.core.frame import Detection  # noqa: E402
from downfield.core.scene import Figure, Player, Scene  # noqa: E402
from downfield.core.track_files import TracksHeader, write_tracks  # noqa: E402
from downfield.models.ball_refiner import CELLS  # noqa: E402
from downfield.models.card import BUNDLED, find_network, read_card  # noqa: E402
from downfield.models.loading import open_detector  # noqa: E402
from downfield.models.refiner import OUTPUTS, PATCH_PX  # noqa: E402
from downfield.models.runtime import Precision  # noqa: E402
from downfield.training.data.real_tables import corrected, count_uncertain, read_table  # noqa: E402
from downfield.training.export.networks import open_refiner  # noqa: E402
from downfield.training.export.onnx import RefinerGraph, export_onnx  # noqa: E402
from downfield.training.networks.refiner import RefinerNetwork  # noqa: E402
from downfield.training.own_table import agreement, learn_table  # noqa: E402

SIZE_PX = (640, 360)
KNOWN = Calibration(FIELD, camera_over(SIZE_PX, tilt_deg=8.0), "truth")
PLAYERS = tuple(Player(f"dark-{i}", "dark", base=SQUARE) for i in range(3))
PLACES = ((200.0, 120.0, 30.0), (400.0, 200.0, -120.0), (500.0, 90.0, 80.0))


def figures(second: int) -> tuple[Figure, ...]:
    """Three that walk; the second is never sure, the third unseen in odd seconds."""
    return tuple(
        Figure(
            f"dark-{i}",
            "dark",
            x + 2 * second,
            y,
            heading,
            SQUARE.length_mm,
            SQUARE.width_mm,
            sigma_mm=(0.3, 0.3),
            sigma_deg=1.0,
            sure=i != 1,
            posture="unseen" if i == 2 and second % 2 else "upright",
        )
        for i, (x, y, heading) in enumerate(PLACES)
    )


def corners_px(figure: Figure) -> Array:
    base = Footprint(figure.x_mm, figure.y_mm, figure.heading_deg, SQUARE)
    return KNOWN.camera.to_pixels(np.column_stack([base.corners_mm(), np.full(4, 5.5)]))


class Seer:
    """Sees all three at the second that the brightness tells, each a millimeter off, the first one turned round."""

    name = "seer"

    def detect(self, image: Image) -> tuple[Detection, ...]:
        second = round(float(image.mean()) / 10)
        out = []
        for i, figure in enumerate(figures(second)):
            off = Footprint(figure.x_mm + 1.0, figure.y_mm, figure.heading_deg, SQUARE).corners_mm()
            corners = KNOWN.camera.to_pixels(np.column_stack([off, np.full(4, 5.5)]))
            corners = corners[[2, 3, 0, 1]] if i == 0 else corners
            points = [(float(x), float(y)) for x, y in corners]
            out.append(Detection("upright", 0.9, (0.0, 0.0, 1.0, 1.0), tuple(points), (0.9, 0.9, 0.1, 0.9)))
        return tuple(out)


@pytest.fixture
def recording(tmp_path: Path) -> tuple[Path, Path]:
    video, tracks = tmp_path / "table.mkv", tmp_path / "table.tracks.jsonl"
    with av.open(str(video), "w") as out:
        stream = out.add_stream("ffv1", rate=1)
        stream.width, stream.height = SIZE_PX
        stream.pix_fmt = "bgr0"
        for second in range(20):
            image = np.full((SIZE_PX[1], SIZE_PX[0], 3), 10 * second, np.uint8)
            out.mux(stream.encode(av.VideoFrame.from_ndarray(image, format="bgr24")))
        out.mux(stream.encode())
    scenes = [Scene(second, second * 1_000_000_000, "on", figures(second)) for second in range(20)]
    write_tracks(tracks, TracksHeader(FIELD, PLAYERS, 1.0), scenes)
    return video, tracks


def test_tracks_teach_where_they_are_sure_and_keep_quiet_elsewhere(recording: tuple[Path, Path]) -> None:
    learned, held = read_table(*recording, KNOWN, Seer(), count=20)
    assert (len(learned), len(held)) == (15, 5)
    for second, frame in enumerate(learned + held):
        assert round(float(frame.image.mean()) / 10) == second
        sure = [figure for i, figure in enumerate(figures(second)) if i == 0 or (i == 2 and not second % 2)]
        assert len(frame.objects.kinds) == len(sure)
        for points, figure in zip(frame.objects.points, sure, strict=True):
            np.testing.assert_allclose(points[:4, :2], corners_px(figure), atol=1e-6)
            # What the detector sees least of is hidden, whichever way round it has the figure.
            assert points[:4, 2].tolist() == ([1, 2, 2, 2] if figure.id == "dark-0" else [2, 2, 1, 2])
            assert points[4, 2] == 0
        doubtful = corners_px(figures(second)[1]).mean(axis=0)
        assert np.linalg.norm(frame.unsure - doubtful, axis=1).min() < 1


def test_agreement_is_told_in_millimeters_on_the_board(recording: tuple[Path, Path]) -> None:
    _, held = read_table(*recording, KNOWN, Seer(), count=20)
    seen = agreement(Seer(), held, KNOWN)
    assert seen.figures == 5 + 2
    assert seen.found == 1
    assert seen.turned == pytest.approx(5 / 7)
    assert seen.corner_mm == pytest.approx(1.0, abs=1e-3)


def test_tracks_of_another_recording_are_refused(recording: tuple[Path, Path], tmp_path: Path) -> None:
    other = tmp_path / "other.tracks.jsonl"
    scenes = [Scene(second, second * 1_000_000_000 + 123, "on", figures(second)) for second in range(20)]
    write_tracks(other, TracksHeader(FIELD, PLAYERS, 1.0), scenes)
    with pytest.raises(InputError, match=r"only 0 frames hold figures with confident tracks in .*other.tracks.jsonl"):
        read_table(recording[0], other, KNOWN, Seer(), count=20)


def test_the_bundled_network_can_be_taught_further() -> None:
    folder = find_network(BUNDLED)
    look = read_card(folder).refiner
    assert look is not None
    network = open_refiner(folder / look.fp32)
    outputs, heat = network(torch.zeros(2, 3, PATCH_PX, PATCH_PX))
    assert (outputs.shape, heat.shape) == ((2, OUTPUTS), (2, CELLS**2))


def test_what_a_few_steps_teach_undoes_nothing_that_was_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clip = bundled_demo()
    calibration = read_calibration(clip.with_suffix(".calibration.json"))
    learned, held = read_table(clip, clip.with_suffix(".tracks.jsonl"), calibration, open_detector(BUNDLED), count=16)
    monkeypatch.setattr("downfield.training.own_table._CALIBRATION_PATCHES", 100)
    # A second a step, so that no machine is faster than another.
    monkeypatch.setattr("downfield.training.own_table.time", SimpleNamespace(monotonic=count().__next__))
    learn_table(find_network(BUNDLED), tmp_path, learned, 3 / 60, name="attic")
    precisions: tuple[Precision, ...] = ("fp32", "int8")
    for precision in precisions:
        was, now = (
            agreement(open_detector(name, precision=precision), held, calibration) for name in (BUNDLED, tmp_path)
        )
        assert now.found > was.found - 0.02
        assert now.corner_mm < 1.3 * was.corner_mm, precision
        assert now.corner_p95_mm < 1.3 * was.corner_p95_mm, precision


def test_an_exported_network_can_be_taught_further(tmp_path: Path) -> None:
    torch.manual_seed(3)
    network = RefinerNetwork()
    for norm in network.modules():
        if isinstance(norm, torch.nn.BatchNorm2d):
            norm.running_mean.normal_()
            norm.running_var.uniform_(0.5, 2)
            torch.nn.init.normal_(norm.weight)
    network.eval()
    pictures = torch.rand(3, 3, PATCH_PX, PATCH_PX)
    said = [each.detach() for each in network(pictures)]
    path = tmp_path / "refiner.onnx"
    export_onnx(RefinerGraph(network), (1, PATCH_PX, PATCH_PX, 3), path, names=("patches", "said"), any_batch=True)
    for again, before in zip(open_refiner(path)(pictures), said, strict=True):
        torch.testing.assert_close(again.detach(), before, atol=1e-3, rtol=1e-3)


def test_a_corrected_frame_takes_the_corrections_and_uncertain_places_are_counted(recording: tuple[Path, Path]) -> None:
    learned, _ = read_table(*recording, KNOWN, Seer(), count=20)
    frame = learned[0]
    # The second figure, never sure: where its track has it, and where the detector does.
    assert count_uncertain(frame) == 2
    there = corners_px(figures(0)[1])
    better = corrected(frame, [*frame.objects.points[:, :4, :2], there])
    np.testing.assert_allclose(better.objects.points[2, :4, :2], there)
    assert better.objects.points[:2, :4, 2].tolist() == frame.objects.points[:, :4, 2].tolist()
    assert better.objects.points[2, :4, 2].tolist() == [2, 2, 2, 2]
    assert count_uncertain(better) == 0
    assert len(corrected(frame, []).objects.kinds) == 0
