"""Logos: what may be uploaded, what is kept of it, and that overlays show it."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from browsers import PageServer, browser, page_in
from evidence_service import EvidenceService
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from playwright.sync_api import Page, expect

from downfield.broadcast.logos import SIDE_PX, LogoFolder, small_png
from downfield.capture.jpeg import MAX_UPLOAD_BYTES
from downfield.core.errors import InputError


def packed(image: NDArray[Any], suffix: str = ".png") -> bytes:
    return cv2.imencode(suffix, image)[1].tobytes()


def unpacked(data: bytes) -> NDArray[np.uint8]:
    image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    assert image is not None
    return np.asarray(image, dtype=np.uint8)


def disk(side: int, color: tuple[int, int, int] = (30, 60, 220)) -> NDArray[np.uint8]:
    """A disk on a transparent ground, a quarter of the picture wide."""
    image = np.zeros((side, side, 4), np.uint8)
    cv2.circle(image, (side // 2, side // 2), side // 8, (*color, 255), -1)
    return image


def test_a_logo_is_cut_to_what_is_seen_of_it_and_keeps_its_transparency() -> None:
    logo = unpacked(small_png(packed(disk(1600))))
    assert logo.shape == (SIDE_PX, SIDE_PX, 4)
    assert logo[0, 0, 3] == 0
    assert logo[SIDE_PX // 2, SIDE_PX // 2].tolist() == [30, 60, 220, 255]


def test_transparent_pixels_lend_the_edge_no_color() -> None:
    logo = unpacked(small_png(packed(disk(4000, (255, 255, 255)))))
    edge = logo[(logo[..., 3] > 0) & (logo[..., 3] < 255)]
    assert len(edge), "the edge is smooth"
    assert edge[:, :3].min() >= 250, "a dark rim around a white disk"


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".webp"])
@pytest.mark.parametrize("shape", [(40, 90), (40, 90, 3)])
def test_pictures_of_every_accepted_kind_are_kept(suffix: str, shape: tuple[int, ...]) -> None:
    image = np.full(shape, 90, np.uint8)
    logo = unpacked(small_png(packed(image, suffix)))
    assert logo.shape == (40, 90, 4)
    assert int(logo[20, 40, 3]) == 255


def test_sixteen_bits_a_channel_are_read() -> None:
    logo = unpacked(small_png(packed(np.full((30, 30, 4), 65_535, np.uint16))))
    assert logo[9, 9].tolist() == [255] * 4


def bomb(width: int, height: int) -> bytes:
    """A PNG of a few bytes that declares a large picture."""

    def part(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = part(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + part(b"IDAT", zlib.compress(bytes(64))) + part(b"IEND", b"")


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>", id="svg"),
        pytest.param(b"GIF89a" + bytes(60), id="gif"),
        pytest.param(bomb(60_000, 60_000), id="a large picture in a small file"),
        pytest.param(bomb(0, 10), id="no width"),
        pytest.param(b"\x89PNG\r\n\x1a\n" + bytes(40), id="only the first bytes"),
        pytest.param(packed(np.full((300, 300, 3), 9, np.uint8))[:80], id="cut"),
        pytest.param(packed(np.zeros((60, 60, 4), np.uint8)), id="transparent"),
        pytest.param(packed(np.full((9, 400, 3), 9, np.uint8)), id="a line"),
        pytest.param(packed(np.full((30, 30, 3), 9, np.uint8)) + bytes(MAX_UPLOAD_BYTES), id="many bytes"),
    ],
)
def test_what_is_no_logo_is_refused(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(InputError):
        LogoFolder(tmp_path / "logos").keep(data)
    assert not list(tmp_path.glob("logos/*")), "nothing of it is kept"


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(st.tuples(st.integers(8, 4_000), st.integers(0, 255)), max_size=12), end=st.integers(0, 4_000))
def test_a_damaged_file_is_refused_or_read_but_never_an_error(changes: list[tuple[int, int]], end: int) -> None:
    data = bytearray(packed(disk(120), ".webp" if end % 2 else ".png"))
    for place, value in changes:
        data[place % len(data)] = value
    try:
        kept = small_png(bytes(data[: max(end, 20)]))
    except InputError:
        return
    assert max(unpacked(kept).shape[:2]) <= SIDE_PX


def test_the_same_logo_has_one_name_and_one_file(tmp_path: Path) -> None:
    folder = LogoFolder(tmp_path / "logos")
    names = {folder.keep(packed(disk(200))) for _ in range(3)}
    assert [path.stem for path in tmp_path.glob("logos/*.png")] == list(names)


def test_a_service_without_a_data_folder_says_so(tmp_path: Path) -> None:
    service = EvidenceService(tmp_path / "a.db")
    try:
        sent = service.client.request("POST", "/api/logos", packed(disk(200)))
        assert sent.status == 503
        assert "no data folder" in sent.json["detail"]
    finally:
        service.close()


def test_a_logo_is_chosen_on_the_panel_and_shown_by_the_overlays(tmp_path: Path) -> None:
    (tmp_path / "lion.png").write_bytes(packed(disk(300)))
    (tmp_path / "notes.png").write_bytes(b"these are notes")
    service = PageServer(tmp_path)
    service.start()
    try:
        with browser() as running, page_in(running, phone=True) as panel, page_in(running) as overlay:
            overlay.goto(f"{service.url}/overlay/scorebug")
            expect(overlay.locator(".score")).to_have_text(["0", "0"])
            expect(overlay.locator(".logo")).to_have_count(0)
            panel.goto(f"{service.url}/panel")
            choose(panel, tmp_path)
            logo = overlay.locator(".logo-plate .logo")
            expect(logo).to_have_count(1)
            overlay.wait_for_function("() => document.querySelector('.logo').naturalWidth > 0")
            assert service.hub.value("game").home.logo is not None
    finally:
        service.stop()


def choose(panel: Page, folder: Path) -> None:
    """Start a game with a logo, after a file that is none."""
    panel.get_by_text("New game", exact=True).click()
    chosen, problem = panel.get_by_label("Logo of the home team"), panel.locator(".logo-field .problem").first
    chosen.set_input_files(folder / "notes.png")
    expect(problem).to_contain_text("no picture that can be read")
    chosen.set_input_files(folder / "lion.png")
    expect(panel.locator(".logo-field .logo")).to_have_count(1)
    expect(problem).to_be_empty()
    panel.get_by_text("End the current game").click()
    panel.get_by_role("button", name="Start the new game").click()
