"""Tables of the strangers' set drawn at random: camera, figures, ball, hands, lamps, clutter."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation
from strangers_bodies import Body, draw_body
from strangers_prints import Print

from downfield.calibration.camera import Camera, Lens

Array = NDArray[np.float64]
Rng = np.random.Generator

SIZE_PX = (1920, 1080)


def draw_camera(rng: Rng, printed: Print, size_px: tuple[int, int] = SIZE_PX) -> Camera:
    """A webcam that sees the board, from 0 to 22 degrees off the vertical."""
    focal = rng.uniform(0.62, 1.5) * size_px[0]
    center = ((size_px[0] - 1) / 2 + rng.normal(0, 12), (size_px[1] - 1) / 2 + rng.normal(0, 12))
    k1 = rng.uniform(-0.18, 0.05)
    lens = Lens(
        size_px, (focal, focal), center, (k1, -0.2 * k1 * abs(k1), rng.normal(0, 4e-4), rng.normal(0, 4e-4), 0.0)
    )
    tilt, way, roll = np.radians([rng.uniform(0, 22), rng.uniform(0, 360), rng.normal(0, 3) + rng.choice([0, 180])])
    lean = Rotation.from_rotvec(tilt * np.array([math.cos(way), math.sin(way), 0.0]))
    turn = (lean * Rotation.from_euler("z", roll)).as_matrix() @ np.diag([1.0, -1.0, -1.0])
    corners = np.array(
        [(x, y, 0.0) for x in (printed.low_mm[0], printed.high_mm[0]) for y in (printed.low_mm[1], printed.high_mm[1])]
    )
    middle = corners.mean(axis=0) + np.array([rng.normal(0, 12), rng.normal(0, 8), 0.0])
    fill = rng.uniform(0.8, 0.97)
    rotation = Rotation.from_matrix(turn).as_rotvec().tolist()
    low, high = 300.0, 6000.0
    for _ in range(40):  # as near as the whole board allows
        away = (low + high) / 2
        shift = np.array([0.0, 0.0, away]) - turn @ middle
        camera = Camera(lens, tuple(rotation), tuple(shift.tolist()))
        pixels = camera.to_pixels(corners)
        span = (np.abs(pixels - center) / (np.array(size_px) / 2)).max()
        low, high = (low, away) if np.isfinite(span) and span < fill else (away, high)
    return camera


def draw_scene(rng: Rng, printed: Print) -> dict[str, Any]:
    """Everything that stands on and around the board, as the Blender script reads it."""
    base_kinds = [draw_base_kind(rng) for _ in range(int(rng.integers(1, 3)))]
    teams = [draw_team(rng), draw_team(rng)]
    per_side = 11 if rng.random() < 0.7 else int(rng.integers(5, 11))
    figures: list[dict[str, Any]] = []
    taken: list[tuple[float, float]] = []
    line = rng.uniform(0.2, 0.8) * printed.length_mm
    fallers = rng.choice([0.0, 0.06, 0.25])
    for k in range(2 * per_side):
        side = k % 2
        for _ in range(80):
            back = abs(rng.normal(20, 30)) if rng.random() < 0.6 else rng.uniform(0, 160)
            x = float(np.clip(line + (1 if side else -1) * (14 + back), -20, printed.length_mm + 20))
            y = float(rng.uniform(0.06, 0.94) * printed.width_mm)
            if all(math.hypot(x - a, y - b) > 33 for a, b in taken):
                break
        taken.append((x, y))
        heading = math.radians(rng.normal(0, 35) + (180 if side else 0))
        figures.append(
            draw_figure(
                rng, base_kinds[k % len(base_kinds)], teams[side], (x, y), heading, fallen=rng.random() < fallers
            )
        )
    ball = _ball(rng, printed, figures, taken)
    lamps = draw_lamps(rng, printed)
    hands = _hands(rng, taken)
    return {"figures": figures, "ball": ball, "hands": hands, "lamps": lamps} | draw_room(rng, printed)


def draw_lamps(rng: Rng, printed: Print) -> list[dict[str, Any]]:
    """One to three lamps over the board."""
    middle, half = _middle_and_half(printed)
    return [
        {
            "at": [
                middle[0] + rng.uniform(-1.6, 1.6) * half[0],
                middle[1] + rng.uniform(-2.5, 2.5) * half[1],
                rng.uniform(900, 2600),
            ],
            "toward": [*middle, 0.0],
            "size": [rng.choice([40.0, 250.0, 900.0]), rng.uniform(60, 700)],
            "watts": float(rng.uniform(900, 5200)),
            "color": [1.0, float(rng.uniform(0.82, 1.0)), float(rng.uniform(0.65, 1.0))],
        }
        for _ in range(int(rng.integers(1, 4)))
    ]


def draw_room(rng: Rng, printed: Print) -> dict[str, Any]:
    """Everything else around the board: clutter, table, rim, ambient light, the camera's tone."""
    middle, half = _middle_and_half(printed)
    return {
        "clutter": _clutter(rng, middle, half),
        "ambient": float(rng.uniform(0.1, 0.9)),
        "ambient_color": [1.0, 1.0, float(rng.uniform(0.9, 1.1))],
        "low": printed.low_mm,
        "high": printed.high_mm,
        "board_mm": float(rng.uniform(3, 45)),
        "rim": _color(rng),
        "board_rough": float(rng.uniform(0.3, 0.85)),
        "table": _color(rng),
        "tone": str(rng.choice(["Standard", "AgX", "Filmic"])),
        "exposure": float(rng.uniform(-0.4, 0.4)),
    }


def _middle_and_half(printed: Print) -> tuple[tuple[float, float], tuple[float, float]]:
    half = ((printed.high_mm[0] - printed.low_mm[0]) / 2, (printed.high_mm[1] - printed.low_mm[1]) / 2)
    return (printed.low_mm[0] + half[0], printed.low_mm[1] + half[1]), half


def _color(rng: Rng) -> list[float]:
    return [float(v) for v in np.clip(rng.uniform(0.03, 0.9) + rng.normal(0, 0.18, 3), 0.01, 0.95)]


def draw_base_kind(rng: Rng) -> dict[str, Any]:
    """A make of base: size, color, gloss and what is on it."""
    dark = rng.random() < 0.45
    color = [float(v) for v in (rng.uniform(0.01, 0.1, 3) if dark else np.clip(rng.uniform(0.05, 0.9, 3), 0, 1))]
    length = float(rng.uniform(24, 40))
    wide, height = float(length * rng.uniform(0.5, 0.74)), float(rng.uniform(3.5, 8))
    details = []
    if rng.random() < 0.55:  # a dial, ahead as often as behind
        details.append([float(rng.choice([-0.3, 0.28])) * length, 0.0, float(rng.uniform(2.0, 3.6)), 1.2, _color(rng)])
    if rng.random() < 0.3:
        details += [[0.36 * length, side * 0.3 * wide, 1.1, 0.6, _color(rng)] for side in (-1, 1)]
    return {
        "length": length,
        "width": wide,
        "height": height,
        "corner": float(rng.uniform(0.6, 3.0)),
        "color": color,
        "front": str(rng.choice(["square", "rounded", "square"])),
        "alpha": 0.35 if rng.random() < 0.12 else 1.0,
        "rough": float(rng.uniform(0.15, 0.6)),
        "coat": float(rng.choice([0.0, 0.5])),
        "details": details,
    }


def draw_team(rng: Rng) -> dict[str, Any]:
    """Paint of one team's players."""
    skin = np.array([0.75, 0.5, 0.38]) * rng.uniform(0.35, 1.15)
    return {
        "shirt_color": _color(rng),
        "pants_color": _color(rng),
        "helmet_color": _color(rng),
        "bar_color": _color(rng),
        "skin_color": [float(v) for v in np.clip(skin, 0, 1)],
        "rough": float(rng.uniform(0.25, 0.8)),
        "bars": int(rng.integers(0, 3)),
    }


def draw_figure(
    rng: Rng, base: dict[str, Any], team: dict[str, Any], place: tuple[float, float], heading: float, *, fallen: bool
) -> dict[str, Any]:
    """A player on its base, as the Blender script reads it."""
    body: Body = draw_body(rng, base["height"])
    pose = np.eye(4)
    pose[:3, :3] = Rotation.from_euler("z", heading).as_matrix()
    pose[:2, 3] = place
    if fallen:
        way = rng.uniform(0, 2 * math.pi)
        tip = Rotation.from_rotvec(
            math.radians(rng.uniform(78, 98)) * np.array([-math.sin(way), math.cos(way), 0.0])
        ).as_matrix()
        pose[:3, :3] = pose[:3, :3] @ tip
        points = np.array([*body.shirt, *body.pants, *body.skin, body.helmet])
        corners = base_corners(base)
        low = min(
            float((points[:, :3] @ pose[:3, :3].T)[:, 2].min() - points[:, 3].max()),
            float((corners @ pose[:3, :3].T)[:, 2].min()),
        )
        pose[2, 3] = -low
    return {
        "base": base,
        "pose": pose.tolist(),
        "shirt": body.shirt,
        "pants": body.pants,
        "skin": body.skin,
        "helmet": body.helmet,
        "hold": body.hold,
        "fallen": fallen,
        "heading": heading,
        "place": place,
        **team,
    }


def base_corners(base: dict[str, Any]) -> Array:
    """Corners of a base, its top ordered as a footprint and then its underside, shape (8, 3), in the figure frame."""
    half = np.array([base["length"] / 2, base["width"] / 2, base["height"]])
    signs = np.array([(1, 1), (1, -1), (-1, -1), (-1, 1)], dtype=np.float64)
    top = np.column_stack([signs * half[:2], np.full(4, half[2])])
    return np.concatenate([top, top * [1, 1, 0]])


def _ball(
    rng: Rng, printed: Print, figures: list[dict[str, Any]], taken: list[tuple[float, float]]
) -> dict[str, Any] | None:
    size = float(rng.uniform(1.5, 3.2))
    color = [[0.35, 0.17, 0.08], [0.5, 0.27, 0.12], [0.12, 0.1, 0.1], [0.85, 0.85, 0.8]][int(rng.integers(4))]
    ball = {
        "radii": [1.6 * size, size, size],
        "color": color,
        "turn": float(rng.uniform(0, 6.28)),
        "pitch": float(rng.uniform(-0.6, 0.6)),
    }
    holders = [f for f in figures if f["hold"] is not None and not f["fallen"]]
    if holders and rng.random() < 0.65:
        holder = holders[int(rng.integers(len(holders)))]
        pose = np.array(holder["pose"])
        return ball | {"at": (pose[:3, :3] @ np.array(holder["hold"]) + pose[:3, 3]).tolist()}
    if rng.random() < 0.7:
        for _ in range(50):
            x, y = rng.uniform(0.1, 0.9) * printed.length_mm, rng.uniform(0.1, 0.9) * printed.width_mm
            if all(math.hypot(x - a, y - b) > 27 for a, b in taken):
                return ball | {"at": [float(x), float(y), size], "pitch": 0.0}
    return None


def _hands(rng: Rng, taken: list[tuple[float, float]]) -> list[dict[str, Any]]:
    out = []
    for _ in range(int(rng.choice([0, 0, 1, 2]))):
        x, y = taken[int(rng.integers(len(taken)))]
        tip = np.array([x + rng.normal(0, 25), y + rng.normal(0, 25), rng.uniform(18, 60)])
        side = -1.0 if rng.random() < 0.5 else 1.0
        wrist = tip + np.array([rng.normal(0, 25), side * 135, rng.uniform(15, 50)])
        elbow = wrist + np.array([rng.normal(0, 60), side * 420, rng.uniform(20, 90)])
        out.append(draw_hand(rng, tip, wrist, elbow))
    return out


def draw_hand(rng: Rng, tip: Array, wrist: Array, elbow: Array) -> dict[str, Any]:
    """A hand from its fingertips to the wrist, and the forearm, mm."""
    palm = tip + 0.55 * (wrist - tip)
    balls = [[*(palm + s * (wrist - palm)).tolist(), 20.0] for s in np.linspace(0, 1, 8)]
    for finger in np.linspace(-1, 1, 4):
        knuckle = palm + np.array([finger * 30, 0, 0])
        end = tip + np.array([finger * rng.uniform(20, 42), 0, rng.uniform(-4, 4)])
        balls += [[*(knuckle + s * (end - knuckle)).tolist(), 7.5] for s in np.linspace(0, 1, 16)]
    sleeve = [[*(wrist + s * (elbow - wrist)).tolist(), 34.0] for s in np.linspace(0.1, 1, 16)]
    skin = np.clip(np.array([0.75, 0.52, 0.4]) * rng.uniform(0.4, 1.15), 0, 1).tolist()
    return {"balls": balls, "color": skin, "sleeve": sleeve, "sleeve_color": _color(rng), "tip": tip.tolist()}


def _clutter(rng: Rng, middle: tuple[float, float], half: tuple[float, float]) -> list[dict[str, Any]]:
    """Cards, phones, dice and boxes beside the board."""
    out = []
    for _ in range(int(rng.integers(0, 9))):
        side = 1 if rng.random() < 0.5 else -1
        y = middle[1] + side * (half[1] + rng.uniform(30, 200))
        size = [(8.0, 8.0, 8.0), (32.0, 44.0, 0.4), (36.0, 75.0, 4.0), (70.0, 50.0, 20.0)][int(rng.integers(4))]
        at = [middle[0] + float(rng.uniform(-1.1, 1.1)) * half[0], float(y), size[2] - 10.0]
        out.append(
            {
                "at": at,
                "half": size,
                "turn": float(rng.uniform(0, 3.1)),
                "color": _color(rng),
                "rough": 0.4,
                "bevel": 0.3,
            }
        )
    return out
