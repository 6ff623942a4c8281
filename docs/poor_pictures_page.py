"""Make ``poor-pictures.md``: why calls wait for better pictures, each reason with a picture that causes it.

``python docs/poor_pictures_page.py docs/poor-pictures.md docs/pictures``. The pictures are those of the bundled
recording, altered; the texts are what Downfield says about them.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import cv2
import numpy as np

from downfield.calibration.calibration import read_calibration
from downfield.calibration.online.calibrator import OnlineCalibrator
from downfield.capture.source import PictureTimes
from downfield.capture.sources.file_sources import VideoFile, bundled_demo
from downfield.core.arrays import Image
from downfield.core.frame import Frame
from downfield.vision.board.picture_health import PictureHealthMonitor
from downfield.vision.hands import HAND_OVER_FIGURES

WIDTH_PX: Final = 480
QUALITY: Final = 70
FRAMES: Final = (215, 290)  # of the recording: a play under way
_NS: Final = 1_000_000_000

INTRODUCTION: Final = """# When pictures are poor

Poor pictures are to make calls wait, and never to make them wrong. Each text below is what Downfield says about the
picture over it: a warning while calls go on, or why they wait. The panel's health shows it at once, and from which
frames of the last ten seconds no calls could be made, and how many those were. The page is made by
`python docs/poor_pictures_page.py docs/poor-pictures.md docs/pictures`; what each fault does to calls is measured in
[disturbances](disturbances.md).

Under pictures that came at a time of their own there is a strip: a mark for each picture when it came, filled where it
shows something new.
"""

Shown = Sequence[tuple[int, Image]]
"""Pictures with their stamps, ns."""


def main() -> None:
    """Write the page and its pictures."""
    page, folder = Path(sys.argv[1]), Path(sys.argv[2])
    clip = VideoFile(bundled_demo(), paced=False)
    frames = [one.decode() for one in itertools.islice(clip.frames(), *FRAMES)]
    clip.close()
    usual = [(frame.t_ns, frame.image) for frame in frames]
    parts = [INTRODUCTION]
    for name, (title, told, alter) in _cases().items():
        shown = alter(usual)
        text = told or _told(shown)
        assert text, f"{name}: nothing is said"
        picture = folder / f"poor-{name}.jpg"
        image = shown[-1][1]
        height = round(image.shape[0] * WIDTH_PX / image.shape[1])
        drawn = cv2.resize(image, (WIDTH_PX, height), interpolation=cv2.INTER_AREA)
        if name in _IN_TIME:
            drawn = np.vstack([drawn, _times(shown)])
        cv2.imwrite(str(picture), drawn, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
        parts.append(f"## {title}\n\n![{title}](pictures/{picture.name})\n\n> {text}\n")
    page.write_text("\n".join(parts), encoding="utf-8")


def _told(shown: Shown) -> str:
    """Return what is said at the end about pictures: why calls wait, else the first warning."""
    health, times = PictureHealthMonitor(), PictureTimes()
    calibrator = OnlineCalibrator(
        read_calibration(bundled_demo().with_suffix(".calibration.json")), in_background=False
    )
    texts: list[str] = []
    for index, (stamp_ns, image) in enumerate(shown):
        t_ns, error_ns = times(stamp_ns)
        seen = health.step(Frame(index, t_ns, image, t_sigma_ns=error_ns))
        moved = calibrator.update(image, t_ns).problems
        found = [*seen.unfit, *moved, *seen.warnings]
        texts = found or texts
    calibrator.close()
    return texts[0] if texts else ""


def _each(change: Callable[[Image, int], Image]) -> Callable[[Shown], Shown]:
    return lambda shown: [(t_ns, change(image, number)) for number, (t_ns, image) in enumerate(shown[:40])]


def _light(image: Image, light: float | np.ndarray) -> Image:
    return np.asarray(np.clip(image * np.asarray(light, np.float32), 0, 255), np.uint8)


def _flicker(image: Image, number: int) -> Image:
    phase = 2 * np.pi * 100 * (number / 30 + np.linspace(0, 0.03, image.shape[0]))
    return _light(image, (0.33 + 0.67 * (0.5 + 0.5 * np.cos(phase)))[:, None, None])


def _blur(image: Image, number: int) -> Image:
    return image if number < 10 else np.asarray(cv2.GaussianBlur(image, (0, 0), 5.0), np.uint8)


def _fog(image: Image, _: int) -> Image:
    return np.asarray(cv2.addWeighted(image, 0.4, np.full_like(image, 200), 0.6, 0), np.uint8)


def _glare(image: Image, _: int) -> Image:
    height, width = image.shape[:2]
    x, y = np.meshgrid(np.arange(width) - 0.45 * width, np.arange(height) - 0.5 * height)
    added = 230 * np.exp(-0.5 * (np.hypot(x, y) / (0.18 * width)) ** 2)
    return np.asarray(np.clip(image + added[..., None], 0, 255), np.uint8)


def _noise(image: Image, number: int) -> Image:
    grain = np.random.default_rng(number).normal(0, 12, (*image.shape[:2], 1)).astype(np.float32)
    return np.asarray(np.clip(image + grain, 0, 255), np.uint8)


def _moved(image: Image, number: int) -> Image:
    if number < 36:
        return image
    move = np.array([[1.0, 0.0, 20.0], [0.0, 1.0, -15.0]])
    return np.asarray(cv2.warpAffine(image, move, image.shape[1::-1], borderMode=cv2.BORDER_REPLICATE), np.uint8)


def _covered(image: Image, _: int) -> Image:
    out = image.copy()
    height, width = image.shape[:2]
    cv2.line(out, (width // 2, -40), (round(0.42 * width), height // 2), (120, 150, 205), 150, cv2.LINE_AA)
    return out


def _twice(shown: Shown) -> Shown:
    return [(t_ns, shown[number // 2 * 2][1]) for number, (t_ns, _) in enumerate(shown[:40])]


def _slow(shown: Shown) -> Shown:
    return [*shown[:30], *((t_ns + 400_000_000, image) for t_ns, image in shown[30:31])]


def _bursts(shown: Shown) -> Shown:
    return [
        (shown[number // 6 * 6 + 5][0] + number % 6 * 1_000_000, image) for number, (_, image) in enumerate(shown[:60])
    ]


def _frozen(shown: Shown) -> Shown:
    return [(t_ns, shown[min(number, 20)][1]) for number, (t_ns, _) in enumerate(shown[:40])]


def _swapped(shown: Shown) -> Shown:
    order = sorted(range(50), key=lambda number: number + 1.5 * (number % 6 == 5))
    return [(shown[place][0], shown[number][1]) for place, number in enumerate(order)]


_IN_TIME: Final = frozenset({"few", "repeated", "slow", "bursts", "frozen"})


def _times(shown: Shown) -> Image:
    """Return a strip with a mark for each picture at the time it came, filled where it shows something new."""
    strip = np.full((34, WIDTH_PX, 3), 245, np.uint8)
    last = shown[-1][0]
    before: Image | None = None
    for t_ns, image in shown:
        x = round(WIDTH_PX - 12 - (last - t_ns) / _NS * 320)
        new = before is None or not np.array_equal(before, image)
        if x > 6:
            cv2.rectangle(strip, (x - 2, 8), (x + 2, 26), (60, 90, 40), -1 if new else 1)
        before = image
    return strip


def _cases() -> dict[str, tuple[str, str, Callable[[Shown], Shown]]]:
    """Return title, text where it is not what the pictures themselves bring about, and what alters them, by name."""
    unsure = "Not sure which figure is which for 22 of 22: line them up and tap Set"
    return {
        "flicker": ("Lamps flicker", "", _each(_flicker)),
        "dark": ("Too dark", "", _each(lambda image, _: _light(image, 0.15))),
        "dim": ("Dim", "", _each(lambda image, _: _light(image, 0.35))),
        "noise": ("Noise", "", _each(_noise)),
        "switched": (
            "A lamp was switched",
            "",
            _each(lambda image, number: _light(image, 1.0 if number < 36 else 0.55)),
        ),
        "glare": ("Glare", "", _each(_glare)),
        "fog": ("Fog on the lens, or light into it", "", _each(_fog)),
        "blur": ("Out of focus", "", _each(_blur)),
        "moved": ("The camera was moved", "", _each(_moved)),
        "covered": ("Something covers figures", HAND_OVER_FIGURES, _each(_covered)),
        "few": ("Too few pictures", "", lambda shown: shown[:60:4]),
        "repeated": ("Pictures come twice", "", _twice),
        "bursts": ("Pictures come in bursts", "", _bursts),
        "swapped": ("Pictures come in the wrong order", "", _swapped),
        "slow": ("Pictures stay away", "", _slow),
        "frozen": ("The picture is frozen", "", _frozen),
        "cut": ("The recording was cut, or figures were set up elsewhere", unsure, lambda shown: shown[-1:]),
    }


if __name__ == "__main__":
    main()
