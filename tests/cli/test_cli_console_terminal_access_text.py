"""The code that `downfield run` prints for a phone's camera, as terminals of either color show it."""

from __future__ import annotations

import io
import re
from types import SimpleNamespace
from typing import Any

import cv2
import numpy as np
import pytest
from rich.console import Console

from downfield.cli.console.terminal import print_access, print_qr

LINK = "https://192.168.1.5:8318/pair#ABCDEFGHJK"
STYLED = re.compile(r"\x1b\[([\d;]*)m")
HALVES = {"█": (1, 1), "▀": (1, 0), "▄": (0, 1), " ": (0, 0)}


def shown(printed: str, ink: int, paper: int) -> np.ndarray:
    """Return printed text as a terminal of these gray levels shows it, with what is around it."""
    rows: list[list[int]] = []
    for line in printed.splitlines():
        front, back = ink, paper
        halves: list[tuple[int, int]] = []
        for place, part in enumerate(STYLED.split(line)):
            if place % 2:
                front, back = (255, 0) if part.startswith("38;2;255;255;255;48;2;0;0;0") else (ink, paper)
            else:
                halves += [
                    (front if top else back, front if low else back) for top, low in (HALVES[each] for each in part)
                ]
        rows += [list(half) for half in zip(*halves, strict=True)]
    return np.kron(np.pad(np.array(rows, np.uint8), 6, constant_values=paper), np.ones((6, 6), np.uint8))


@pytest.mark.parametrize(("ink", "paper"), [(230, 20), (20, 250)], ids=["dark", "light"])
def test_a_phone_reads_the_code_from_a_terminal_of_either_color(ink: int, paper: int) -> None:
    out = io.StringIO()
    print_qr(Console(file=out, force_terminal=True, color_system="truecolor", width=100), LINK)
    assert cv2.QRCodeDetector().detectAndDecode(shown(out.getvalue(), ink, paper))[0] == LINK


def test_a_file_gets_no_colors() -> None:
    out = io.StringIO()
    print_qr(Console(file=out, width=100), LINK)
    assert "\x1b" not in out.getvalue()
    assert cv2.QRCodeDetector().detectAndDecode(shown(out.getvalue(), 230, 20))[0] == LINK


@pytest.mark.parametrize(
    ("waits_for_phone", "told"), [(True, "the phone that is to be the camera"), (False, "the operator's phone")]
)
def test_the_code_is_told_with_the_page_that_has_more_of_its_kind(waits_for_phone: bool, told: str) -> None:
    service: Any = SimpleNamespace(
        admin_link="http://127.0.0.1:8317/",
        network_addresses=lambda: ["https://192.168.1.5:8318/"],
        certificate=None,
        pairing_link=lambda role: f"https://192.168.1.5:8318/{'phone' if role == 'camera' else 'pair'}#ABCDEFGHJK",
    )
    out = io.StringIO()
    print_access(Console(file=out, width=200), service, waits_for_phone=waits_for_phone)
    page = "/setup" if waits_for_phone else "the start page"
    assert f"Scan this with {told} (one phone, within 10 minutes; more codes on {page}):" in out.getvalue()
    assert ("/phone#" in out.getvalue()) == waits_for_phone
