"""A figure's shape: a base box and a football player of simple solids standing on it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from downfield.core.arrays import Array
from downfield.core.footprint import BaseSize
from downfield.twin.randomization.colors import Parts, about_y, about_z
from downfield.twin.table.appearance import Color, FigureAppearance


@dataclass(frozen=True, slots=True)
class Kit:
    """Colors and kit of a team's figures."""

    base: Color  # base, base_opacity: color and opacity of the bases; an opacity below 1 is clear plastic
    base_opacity: float
    jersey: Color
    pants: Color
    socks: Color
    helmet: Color
    mask: Color
    number: Color
    skin: Color


@dataclass(frozen=True, slots=True)
class Build:
    """Pose and proportions of one player."""

    height_mm: float = 33.0  # from the base's top to the helmet's top when standing straight
    lean_deg: float = 12.0  # of the upper body, ahead
    twist_deg: float = 0.0  # of the upper body about the vertical
    crouch: float = 0.0  # 0 standing .. 1 in a three-point stance.
    stride_deg: float = 25.0  # angle between the legs, one ahead
    spread_deg: float = 10.0  # angle between the legs, sideways
    arms_deg: tuple[float, float] = (40.0, 40.0)  # elevation of each arm ahead of hanging down: left, right
    arms_out_deg: tuple[float, float] = (20.0, 20.0)  # sideways angle of each arm: left, right
    bulk: float = 1.0  # thickness of body and limbs, relative to the slimmest usual figure


def shape(base: BaseSize, kit: Kit, build: Build) -> FigureAppearance:
    """Return a figure's solids, its base first.

    Args:
        base: size of its base; the solid whose part is ``base`` is exactly this box.
    """
    parts = Parts()
    half = (base.length_mm / 2, base.width_mm / 2, base.height_mm / 2)
    parts.add("box", half, (0.0, 0.0, half[2]), kit.base, opacity=kit.base_opacity, part="base")
    if kit.base_opacity == 1:
        _details(parts, base, kit)
    top = base.height_mm
    tall = build.height_mm
    hip_z = top + tall * (0.45 - 0.18 * build.crouch)
    hips = np.array([-0.03 * tall, 0.0, hip_z])
    _legs(parts, kit, build, hips, top)
    lean = math.radians(build.lean_deg + 45 * build.crouch)
    spine = np.array([math.sin(lean), 0.0, math.cos(lean)])
    chest = hips + spine * 0.24 * tall
    width = 0.18 * tall * build.bulk
    body = _turned(build)
    parts.add("ellipsoid", (0.085 * tall, 0.11 * tall, 0.07 * tall), hips, kit.pants)
    parts.add(
        "ellipsoid", (0.10 * tall * build.bulk, 0.8 * width, 0.17 * tall), hips + spine * 0.15 * tall, kit.jersey, body
    )
    parts.add("ellipsoid", (0.095 * tall * build.bulk, width, 0.075 * tall), chest, kit.jersey, body)
    _pads_and_number(parts, kit, build, hips, chest, width)
    _arms(parts, kit, build, chest, width)
    _head(parts, kit, build, chest + spine * 0.17 * tall)
    return FigureAppearance(parts.solids())


def _legs(parts: Parts, kit: Kit, build: Build, hips: Array, top: float) -> None:
    tall = build.height_mm
    for side, ahead in ((1, 1), (-1, -1)):
        swing, out = math.radians(build.stride_deg / 2) * ahead, math.radians(build.spread_deg / 2) * side
        hip = hips + np.array([0.0, 0.06 * tall * side, -0.02 * tall])
        reach = hip[2] - top
        foot = np.array([hip[0] + math.tan(swing) * reach, hip[1] + math.tan(out) * reach, top + 0.02 * tall])
        knee = (hip + foot) / 2 + np.array([0.05 * tall + 0.10 * tall * build.crouch, 0.0, 0.02 * tall])
        _limb(parts, hip, knee, 0.055 * tall * build.bulk, kit.pants)
        _limb(parts, knee, foot, 0.042 * tall * build.bulk, kit.socks)


def _pads_and_number(parts: Parts, kit: Kit, build: Build, hips: Array, chest: Array, width: float) -> None:
    tall, body = build.height_mm, _turned(build)
    for side in (1, -1):
        pad = chest + body @ np.array([0.0, 0.82 * width * side, 0.012 * tall])
        parts.add("ellipsoid", (0.085 * tall, 0.07 * tall, 0.06 * tall), pad, kit.jersey, body)
    back = hips + 0.75 * (chest - hips) + body @ np.array([-0.088 * tall * build.bulk, 0.0, 0.0])
    parts.add("box", (0.014 * tall, 0.075 * tall, 0.07 * tall), back, kit.number, body, part="other")


def _details(parts: Parts, base: BaseSize, kit: Kit) -> None:
    """Add the clip's plate and the dial's rim in the base's top: visible, but too low to occlude any of it."""
    low, (red, green, blue) = base.height_mm - 0.46, kit.base
    color = (0.82 * red, 0.82 * green, 0.82 * blue)
    dial = min(0.27 * base.width_mm, 4.6)
    parts.add("cylinder", (dial, 0.5), (-0.28 * base.length_mm, 0.0, low), color, part="other")
    half = (0.09 * base.length_mm, 0.3 * base.width_mm, 0.5)
    parts.add("box", half, (0.2 * base.length_mm, 0.0, low), color, part="other")


def _arms(parts: Parts, kit: Kit, build: Build, chest: Array, width: float) -> None:
    tall = build.height_mm
    for side, up_deg, out_deg in zip((1, -1), build.arms_deg, build.arms_out_deg, strict=True):
        up, out = math.radians(up_deg), math.radians(out_deg) * side
        ahead = np.array([math.sin(up) * math.cos(out), math.sin(out), -math.cos(up) * math.cos(out)])
        shoulder = chest + _turned(build) @ np.array([0.0, width * side, 0.0])
        elbow = shoulder + 0.14 * tall * ahead
        forward = np.array([math.sin(up + 0.6) * math.cos(out), 0.6 * math.sin(out), -math.cos(up + 0.6)])
        hand = elbow + 0.15 * tall * forward / np.linalg.norm(forward)
        _limb(parts, shoulder, elbow, 0.042 * tall * build.bulk, kit.jersey)
        _limb(parts, elbow, hand, 0.034 * tall * build.bulk, kit.skin)


def _head(parts: Parts, kit: Kit, build: Build, at: Array) -> None:
    tall = build.height_mm
    radius = 0.085 * tall
    turn = about_z(build.twist_deg)
    ahead = turn[:, 0]
    parts.add("ellipsoid", (1.15 * radius, 0.95 * radius, radius), at, kit.helmet, turn, part="helmet")
    stripe = (1.18 * radius, 0.16 * radius, 1.04 * radius)
    parts.add("ellipsoid", stripe, at, kit.mask, turn)
    face = at + ahead * 0.85 * radius - np.array([0, 0, 0.3 * radius])
    parts.add("ellipsoid", (0.4 * radius, 0.6 * radius, 0.5 * radius), face, kit.mask, turn)


def _turned(build: Build) -> Array:
    return about_z(build.twist_deg) @ about_y(build.lean_deg + 45 * build.crouch)


def _limb(parts: Parts, start: Array, end: Array, radius_mm: float, color: Color) -> None:
    along = end - start
    length = float(np.linalg.norm(along))
    turn = Rotation.align_vectors(along[None] / length, [[0.0, 0.0, 1.0]])[0].as_matrix()
    parts.add("capsule", (radius_mm, max(length / 2, 0.1)), (start + end) / 2, color, turn)


POSES = (
    Build(),
    Build(lean_deg=18, stride_deg=55, arms_deg=(90, -20)),
    Build(lean_deg=8, stride_deg=15, arms_deg=(85, 85), arms_out_deg=(10, 10)),
    Build(lean_deg=25, crouch=0.4, stride_deg=30, spread_deg=30, arms_deg=(70, 70), arms_out_deg=(30, 30)),
    Build(lean_deg=5, stride_deg=10, spread_deg=25, arms_deg=(15, 15), arms_out_deg=(75, 75)),
    Build(lean_deg=15, stride_deg=50, twist_deg=20, arms_deg=(30, 80), arms_out_deg=(10, 40)),
    Build(lean_deg=30, crouch=0.9, stride_deg=45, spread_deg=35, arms_deg=(60, 10)),
    Build(lean_deg=12, stride_deg=35, arms_deg=(110, 110), arms_out_deg=(45, 45)),
    Build(lean_deg=22, stride_deg=60, twist_deg=-15, arms_deg=(-10, 95), arms_out_deg=(15, 20)),
    Build(lean_deg=10, crouch=0.6, stride_deg=70, arms_deg=(45, 60), arms_out_deg=(20, 60)),
)
"""Poses in which figures are molded; training, validation and test each use different ones."""
