"""Trains the digit classifier of `vision.strip` on digits drawn from strokes and by OpenCV's own font, without torch.

    python -m downfield.training.strip_digits digits.npz

Every digit is a skeleton of strokes whose proportions, roundness, contrast, slant and ends are drawn at random, or a
glyph of OpenCV's variable font; then it is worn, blurred, partly faded and cut as pictures of dials are. Run it
again when the shape of glyphs changes (`vision.strip.glyphs`).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.cli.console.output import print_stdout
from downfield.core.arrays import Array, Plane
from downfield.twin.table.lettering import FONTS, text_mask
from downfield.vision.strip.glyphs import CLASSES, GLYPH_SHAPE, OTHER, normalize_glyph

_CANVAS: Final = 96
_UNITS: Final = 96
_LETTERS: Final = "AEFHKMNRTWXYVLPJCU"
_EPOCHS: Final = 36
_BATCH: Final = 256
_GLYPHS: Final = 60_000

Stroke = list[tuple[float, float]]


def draw_digit(digit: int, rng: np.random.Generator) -> Plane:
    """Return one digit drawn from strokes, ink 0..1, shape (_CANVAS, _CANVAS)."""
    round_power = rng.uniform(1.6, 3.4)
    strokes = _skeleton(digit, rng, round_power)
    aspect, slant = rng.uniform(0.45, 0.85), rng.uniform(-0.06, 0.3) if rng.random() < 0.6 else 0.0
    thick_x, thick_y = rng.uniform(0.07, 0.24), rng.uniform(0.07, 0.24)
    if rng.random() < 0.5:
        thick_y = thick_x
    serif = rng.random() < 0.25
    big = 3 * _CANVAS
    stretch = thick_y / thick_x  # a round pen on a squeezed canvas gives thick uprights and thin bars, or the reverse
    canvas = np.zeros((max(int(big / stretch), 40), big), np.uint8)
    pen = max(round(thick_x * big * 0.7), 2)
    for stroke in strokes:
        points = np.array([((0.5 + (x - 0.5) * aspect * 0.7), 0.15 + 0.7 * y) for x, y in stroke])
        pixels = np.round(points * [big, canvas.shape[0]] * 16).astype(np.int32)
        cv2.polylines(canvas, [pixels], isClosed=False, color=(255,), thickness=pen, lineType=cv2.LINE_AA, shift=4)
        if serif and len(stroke) == 2:
            for x, y in stroke[-1:]:
                at = (int((0.5 + (x - 0.5) * aspect * 0.7) * big), int((0.15 + 0.7 * y) * canvas.shape[0]))
                half = int(pen * rng.uniform(0.8, 1.4))
                cv2.line(canvas, (at[0] - half, at[1]), (at[0] + half, at[1]), (255,), max(pen // 3, 1), cv2.LINE_AA)
    plane = cv2.resize(canvas, (_CANVAS, _CANVAS), interpolation=cv2.INTER_AREA)
    lean = np.array([[1, slant, -slant * _CANVAS / 2], [0, 1, 0]])
    return np.asarray(cv2.warpAffine(plane, lean, (_CANVAS, _CANVAS)), np.float32) / np.float32(255)


def _arc(middle: tuple[float, float], radii: tuple[float, float], start: float, end: float, power: float) -> Stroke:
    """Return a part of a superellipse; degrees run clockwise from the right, since y runs down."""
    angles = np.radians(np.linspace(start, end, 28))
    cosine, sine = np.cos(angles), np.sin(angles)
    x = middle[0] + radii[0] * np.sign(cosine) * np.abs(cosine) ** (2 / power)
    y = middle[1] + radii[1] * np.sign(sine) * np.abs(sine) ** (2 / power)
    return [(float(a), float(b)) for a, b in zip(x, y, strict=True)]


def _skeleton(digit: int, rng: np.random.Generator, power: float) -> list[Stroke]:  # noqa: C901 - one case per digit
    waist = rng.uniform(0.42, 0.54)
    if digit == 0:
        return [_arc((0.5, 0.5), (0.5, 0.5), 0, 360, power)]
    if digit == 1:
        flag = rng.uniform(0.1, 0.4)
        out: list[Stroke] = [[(0.5, 0.0), (0.5, 1.0)]]
        if rng.random() < 0.85:
            out.append([(0.5, 0.0), (0.5 - flag, rng.uniform(0.12, 0.3))])
        if rng.random() < 0.4:
            out.append([(0.5 - flag, 1.0), (0.5 + flag, 1.0)])
        return out
    if digit == 2:
        top = _arc((0.5, 0.28), (0.48, 0.28), rng.uniform(170, 215), 380, power)
        return [[*top, (0.05, 1.0)], [(0.05, 1.0), (0.98, 1.0)]]
    if digit == 3:
        if rng.random() < 0.2:
            return [
                [(0.05, 0.0), (0.95, 0.0), (0.45, waist - 0.05)],
                _arc((0.45, 0.7), (0.53, 0.3), -95, rng.uniform(140, 175), power),
            ]
        upper = _arc((0.47, waist / 2), (0.46, waist / 2), rng.uniform(180, 225), 450, power)
        lower = _arc((0.47, (1 + waist) / 2), (0.53, (1 - waist) / 2), -90, rng.uniform(135, 180), power)
        return [upper, lower]
    if digit == 4:
        bar, stem = rng.uniform(0.62, 0.8), rng.uniform(0.62, 0.85)
        if rng.random() < 0.15:
            return [[(0.1, 0.0), (0.02, bar), (1.0, bar)], [(stem, 0.25), (stem, 1.0)]]
        return [[(stem, 0.0), (0.0, bar), (1.0, bar)], [(stem, 0.0), (stem, 1.0)]]
    if digit == 5:
        knee = rng.uniform(0.4, 0.5)
        bowl = _arc((0.46, (1 + knee - 0.06) / 2), (0.54, (1 - knee + 0.06) / 2), -125, rng.uniform(135, 170), power)
        return [[(0.92, 0.0), (0.14, 0.0), (0.1, knee)], [(0.1, knee), *bowl]]
    if digit == 6:
        return _six(rng, power)
    if digit == 7:
        foot = rng.uniform(0.25, 0.5)
        out = [[(0.02, 0.0), (0.98, 0.0), (foot, 1.0)]]
        if rng.random() < 0.12:
            out.append([(0.3, 0.5), (0.9, 0.5)])
        return out
    if digit == 8:
        upper = _arc((0.5, waist / 2), (0.45, waist / 2), 0, 360, power)
        return [upper, _arc((0.5, (1 + waist) / 2), (0.5, (1 - waist) / 2), 0, 360, power)]
    return [[(1 - x, 1 - y) for x, y in stroke] for stroke in _six(rng, power)]


def _six(rng: np.random.Generator, power: float) -> list[Stroke]:
    top = rng.uniform(0.34, 0.46)
    bowl = _arc((0.5, (1 + top) / 2), (0.48, (1 - top) / 2), 0, 360, power)
    if rng.random() < 0.35:
        return [bowl, [(rng.uniform(0.5, 0.75), 0.0), (0.04, (1 + top) / 2 - 0.05)]]
    return [bowl, _arc((0.5, 0.5), (0.48, 0.5), 180, rng.uniform(290, 330), power)]


def _font_glyph(text: str, rng: np.random.Generator) -> Plane:
    shown = "O" if text == "0" and rng.random() < 0.7 else text
    mask = text_mask(shown, (0.7 * _CANVAS, 0.7 * _CANVAS), int(rng.integers(FONTS)))
    out = np.zeros((_CANVAS, _CANVAS), np.float32)
    rows, columns = mask.shape
    top, left = (_CANVAS - rows) // 2, (_CANVAS - columns) // 2
    out[top : top + rows, left : left + columns] = mask
    return out


def _worn(plane: Plane, rng: np.random.Generator) -> Plane:
    """Return a glyph as a picture shows it: turned a little, blurred at its size, unevenly lit, noisy."""
    turn = cv2.getRotationMatrix2D((_CANVAS / 2, _CANVAS / 2), rng.uniform(-5, 5), 1.0)
    plane = np.asarray(cv2.warpAffine(plane, turn, (_CANVAS, _CANVAS)), np.float32)
    size = int(rng.integers(14, 60))
    small = np.asarray(cv2.resize(plane, (size, size), interpolation=cv2.INTER_AREA), np.float32)
    small = np.asarray(cv2.GaussianBlur(small, (0, 0), rng.uniform(0.2, 0.055 * size)), np.float32)
    small = small + rng.normal(0, rng.uniform(0, 0.1), small.shape).astype(np.float32)
    if rng.random() < 0.3:
        ramp = np.linspace(0, rng.uniform(-0.25, 0.25), size, dtype=np.float32)
        small = small * (1 + (ramp[None] if rng.random() < 0.5 else ramp[:, None]))
    return np.asarray(np.clip(cv2.resize(small, (64, 64), interpolation=cv2.INTER_LINEAR), 0, 1), np.float32)


def _other(rng: np.random.Generator) -> Plane:
    """Return what is no digit: a letter, a spot, a bar, or a digit with a good part missing."""
    kind = rng.random()
    if kind < 0.3:
        return _font_glyph(_LETTERS[int(rng.integers(len(_LETTERS)))], rng)
    plane = np.zeros((_CANVAS, _CANVAS), np.float32)
    if kind < 0.4:
        middle = tuple(int(v) for v in rng.integers(35, 60, 2))
        axes = tuple(int(v) for v in rng.integers(10, 32, 2))
        cv2.ellipse(plane, middle, axes, float(rng.uniform(0, 180)), 0, 360, (1.0,), -1, cv2.LINE_AA)
        return plane
    digit = _any_digit(int(rng.choice([0, 2, 3, 4, 5, 6, 8, 9])), rng)
    ink = np.argwhere(digit > 0.4)
    (top, left), (bottom, right) = ink.min(axis=0), ink.max(axis=0)
    keep = rng.uniform(0.3, 0.62)
    side = int(rng.integers(4))
    if side == 0:
        digit[top + int(keep * (bottom - top)) :] = 0
    elif side == 1:
        digit[: bottom - int(keep * (bottom - top))] = 0
    elif side == 2:
        digit[:, left + int(keep * (right - left)) :] = 0
    else:
        digit[:, : right - int(keep * (right - left))] = 0
    return digit


def _any_digit(digit: int, rng: np.random.Generator) -> Plane:
    return _font_glyph(str(digit), rng) if rng.random() < 0.3 else draw_digit(digit, rng)


def make_set(count: int, rng: np.random.Generator) -> tuple[Array, NDArray[np.int64]]:
    """Return glyphs, shape (count, rows * columns), and their classes, shape (count,)."""
    classes = rng.integers(0, CLASSES, count)
    rows, columns = GLYPH_SHAPE
    out = np.zeros((count, rows * columns), np.float32)
    for k, kind in enumerate(classes.tolist()):
        plane = _other(rng) if kind == OTHER else _any_digit(kind, rng)
        out[k] = normalize_glyph(_worn(plane, rng)).ravel()
    return out.astype(np.float64) - 0.3, classes


def train(glyphs: Array, classes: NDArray[np.int64], rng: np.random.Generator) -> tuple[Array, Array]:
    """Return the hidden and the output layer after gradient descent with momentum (Adam), biases in the last row."""
    inputs = glyphs.shape[1]
    layers = [
        np.vstack([rng.normal(0, np.sqrt(2 / inputs), (inputs, _UNITS)), np.zeros((1, _UNITS))]),
        np.vstack([rng.normal(0, np.sqrt(2 / _UNITS), (_UNITS, CLASSES)), np.zeros((1, CLASSES))]),
    ]
    mean, spread = [np.zeros_like(w) for w in layers], [np.zeros_like(w) for w in layers]
    step = 0
    for epoch in range(_EPOCHS):
        rate = 2e-3 * 0.5 * (1 + np.cos(np.pi * epoch / _EPOCHS)) + 2e-5
        order = rng.permutation(len(glyphs))
        for start in range(0, len(order), _BATCH):
            rows = order[start : start + _BATCH]
            gradients = _gradients(layers, glyphs[rows], classes[rows])
            step += 1
            for k, gradient in enumerate(gradients):
                gradient = gradient + 1e-4 * layers[k]
                mean[k] = 0.9 * mean[k] + 0.1 * gradient
                spread[k] = 0.999 * spread[k] + 0.001 * gradient**2
                layers[k] -= rate * (mean[k] / (1 - 0.9**step)) / (np.sqrt(spread[k] / (1 - 0.999**step)) + 1e-8)
    return layers[0], layers[1]


def _gradients(layers: list[Array], glyphs: Array, classes: NDArray[np.int64]) -> tuple[Array, Array]:
    count = len(glyphs)
    bare = glyphs @ layers[0][:-1] + layers[0][-1]
    units = np.maximum(bare, 0)
    odds = units @ layers[1][:-1] + layers[1][-1]
    odds = np.exp(odds - odds.max(axis=1, keepdims=True))
    off = odds / odds.sum(axis=1, keepdims=True)
    off[np.arange(count), classes] -= 0.95  # labels are smoothed by a twentieth, so that odds stay within reason
    off -= 0.05 / CLASSES
    off /= count
    back = (off @ layers[1][:-1].T) * (bare > 0)
    return np.vstack([glyphs.T @ back, back.sum(axis=0)]), np.vstack([units.T @ off, off.sum(axis=0)])


def main(out: Path) -> None:
    """Train the network and write its layers in half precision."""
    rng = np.random.default_rng(2025)
    hidden, output = train(*make_set(_GLYPHS, rng), rng)
    np.savez_compressed(out, hidden=hidden.astype(np.float16), output=output.astype(np.float16))
    glyphs, classes = make_set(4000, rng)
    units = np.maximum(glyphs @ hidden[:-1] + hidden[-1], 0)
    right = np.mean((units @ output[:-1] + output[-1]).argmax(axis=1) == classes)
    print_stdout(f"{out}: {right:.2%} of other drawn glyphs right")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
