"""The worker of the photoreal renderer: runs in a separate Python environment with Blender's ``bpy``.

Started by `twin.render.render_blender` as a script. It needs bpy, numpy and the standard library, and imports nothing
from Downfield. It reads one JSON order a line on standard input and answers each with a line: ``{"ok": true}`` or
``{"error": "..."}``.

Orders: ``build`` (an appearance, the board's print as a PNG, a pinhole) once, then ``render`` (poses and loose solids)
for every picture. Lengths arrive in millimeters and become meters.
"""

from __future__ import annotations

import json
import math
import os
import sys
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector

_Shape = tuple[list[tuple[float, float, float]], list[tuple[int, ...]]]
"""Vertices and faces."""

MM = 0.001
_ARC = 6  # segments of a quarter circle on a base's rounded corner
_LAMP_WATTS = 16.0  # of a lamp of strength 1, one meter away, for a middling exposure


class Table:
    """The scene: built once, moved for every picture."""

    def __init__(self, order: dict[str, Any]) -> None:
        bpy.ops.wm.read_factory_settings(use_empty=True)
        self.scene = bpy.context.scene
        self.appearance = order["appearance"]
        self.figures: dict[str, Any] = {}
        self.loose: list[Any] = []  # hands and sticks: rebuilt for every picture
        self._world()
        self._board(order)
        for solid in order["still"]:
            self._solid(solid, None)
        for figure, player in zip(self.appearance["figures"], order["players"], strict=True):
            self.figures[player["id"]] = self._figure(player["id"], figure, player["base"]["corner_mm"])
        self.ball = self._figure("ball", self.appearance["ball"], 0.0)
        self._camera(order["pinhole"])
        self._cycles(order["samples"], order["threads"])

    def render(self, order: dict[str, Any]) -> None:
        """Render one picture, as a PNG."""
        for pose in order["figures"]:
            self.figures[pose["id"]].matrix_world = _pose(pose["position_mm"], pose["rotation"])
        for part in self.ball.children:
            part.hide_render = not order["ball"]
        if order["ball"]:
            self.ball.matrix_world = _pose(order["ball"]["position_mm"], order["ball"]["rotation"])
        for thing in self.loose:
            bpy.data.objects.remove(thing, do_unlink=True)
        self.loose = [self._solid(solid, None) for solid in order["loose"]]
        to_camera = np.array(order["board_to_camera"])
        world = np.eye(4)
        world[:3, :3] = to_camera.T @ np.diag([1.0, -1.0, -1.0])  # Blender's cameras face -z with y up
        world[:3, 3] = -to_camera.T @ np.array(order["translation_mm"]) * MM
        self.scene.camera.matrix_world = Matrix(world.tolist())
        self.scene.render.filepath = order["picture"]
        bpy.ops.render.render(write_still=True)

    def _world(self) -> None:
        world = bpy.data.worlds.new("world")
        self.scene.world = world
        world.use_nodes = True
        background = world.node_tree.nodes["Background"]
        background.inputs["Strength"].default_value = 0.9 * self.appearance["ambient"]
        for lamp in self.appearance["lamps"]:
            light = bpy.data.lights.new("lamp", "AREA")
            light.shape = "DISK"
            light.size = max(2 * lamp["radius_mm"] * MM, 0.01)
            light.color = [_linear(c) for c in lamp["color"]]
            place = Vector([v * MM for v in lamp["position_mm"]])
            light.energy = _LAMP_WATTS * lamp["strength"] * (place - self._middle()).length_squared
            shining = self._add("lamp", light)
            shining.location = place
            shining.rotation_euler = (self._middle() - place).to_track_quat("-Z", "Y").to_euler()

    def _middle(self) -> Vector:
        field = self.appearance["field"]
        return Vector(
            (field["length_yd"] * field["mm_per_yd_x"] * MM / 2, field["width_yd"] * field["mm_per_yd_y"] * MM / 2, 0)
        )

    def _board(self, order: dict[str, Any]) -> None:
        x0, y0, x1, y1 = order["board_mm"]
        columns, rows = order["surface_shape"]
        heights = np.array(order["surface_mm"]).reshape(rows, columns)
        corners, faces, where = [], [], []
        for j in range(rows):
            for i in range(columns):
                u, v = i / (columns - 1), j / (rows - 1)
                corners.append(((x0 + u * (x1 - x0)) * MM, (y0 + v * (y1 - y0)) * MM, heights[j, i] * MM))
                where.append((u, v))
        for j in range(rows - 1):
            for i in range(columns - 1):
                first = j * columns + i
                faces.append((first, first + 1, first + columns + 1, first + columns))
        mesh = _mesh("board", corners, faces)
        layer = mesh.uv_layers.new()
        for loop in mesh.loops:
            layer.data[loop.index].uv = where[loop.vertex_index]
        mesh.materials.append(_printed(order["print"], self.appearance["board"]["gloss"]))
        self._add("board", mesh)
        top = _mesh("table", [(-4, -4, -0.03), (5, -4, -0.03), (5, 5, -0.03), (-4, 5, -0.03)], [(0, 1, 2, 3)])
        top.materials.append(_material(self.appearance["table"], roughness=0.5, grain=0.15))
        self._add("table", top)

    def _figure(self, name: str, figure: dict[str, Any], corner_mm: float) -> Any:
        frame = self._add(name, None)
        for solid in figure["solids"]:
            self._solid(solid, frame, corner_mm if solid["part"] == "base" else 0.0)
        return frame

    def _solid(self, solid: dict[str, Any], frame: Any, corner_mm: float = 0.0) -> Any:
        kind, (a, b, c) = solid["kind"], solid["size_mm"]
        if kind == "box":
            mesh = _box((a, b, c), corner_mm)
        else:
            mesh = bpy.data.meshes.new(kind)
            shape = {"ellipsoid": _ellipsoid, "capsule": _capsule, "cylinder": _cylinder}[kind]
            vertices, faces = shape(a, b, c)
            mesh.from_pydata([[v * MM for v in vertex] for vertex in vertices], [], faces)
            mesh.shade_smooth()
        part = solid["part"]
        roughness = {"base": 0.3, "helmet": 0.25}.get(part, 0.5)
        mesh.materials.append(_material(solid["color"], roughness=roughness, opacity=solid["opacity"]))
        placed = self._add(part, mesh)
        placed.parent = frame
        placed.matrix_local = _pose(solid["position_mm"], solid["rotation"])
        return placed

    def _camera(self, pinhole: dict[str, Any]) -> None:
        width, height = pinhole["size_px"]
        camera = bpy.data.cameras.new("camera")
        camera.sensor_fit = "HORIZONTAL"
        camera.sensor_width = 36.0
        camera.lens = pinhole["focal_px"] * 36.0 / width
        # Blender's picture spans 0..width in pixel edges, so its middle is (width - 1) / 2 in pixel centers.
        camera.shift_x = ((width - 1) / 2 - pinhole["center_px"][0]) / width
        camera.shift_y = (pinhole["center_px"][1] - (height - 1) / 2) / width
        camera.clip_start, camera.clip_end = 0.05, 50.0
        self.scene.camera = self._add("camera", camera)
        self.scene.render.resolution_x, self.scene.render.resolution_y = width, height
        self.scene.render.resolution_percentage = 100

    def _cycles(self, samples: int, threads: int) -> None:
        scene = self.scene
        scene.render.engine = "CYCLES"
        scene.cycles.device = "CPU"
        scene.cycles.samples = samples
        scene.cycles.use_denoising = True
        scene.cycles.denoiser = "OPENIMAGEDENOISE"
        scene.cycles.denoising_quality = "BALANCED"
        scene.cycles.denoising_prefilter = "FAST"
        scene.cycles.max_bounces = 5
        scene.cycles.transparent_max_bounces = 8
        scene.cycles.filter_width = 1.2
        scene.render.threads_mode = "FIXED"
        scene.render.threads = threads
        scene.render.image_settings.file_format = "PNG"
        scene.view_settings.view_transform = "Standard"

    def _add(self, name: str, data: Any) -> Any:
        thing = bpy.data.objects.new(name, data)
        self.scene.collection.objects.link(thing)
        return thing


def _pose(position_mm: Any, rotation: Any) -> Matrix:
    return Matrix.Translation([v * MM for v in position_mm]) @ Quaternion(rotation).to_matrix().to_4x4()


def _linear(c: float) -> float:
    """Return an sRGB component as linear light."""
    return c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4


def _material(color: Any, *, roughness: float, opacity: float = 1.0, grain: float = 0.0) -> Any:
    material = bpy.data.materials.new("surface")
    material.use_nodes = True
    nodes, links = material.node_tree.nodes, material.node_tree.links
    shader = nodes["Principled BSDF"]
    rgba = (*(_linear(c) for c in color), 1.0)
    shader.inputs["Base Color"].default_value = rgba
    shader.inputs["Roughness"].default_value = roughness
    if opacity < 1:
        shader.inputs["Transmission Weight"].default_value = 1 - opacity
        shader.inputs["IOR"].default_value = 1.2  # thin molded plastic refracts less than a solid block
    if grain:
        noise, mix = nodes.new("ShaderNodeTexNoise"), nodes.new("ShaderNodeMixRGB")
        noise.inputs["Scale"].default_value = 6.0
        noise.inputs["Detail"].default_value = 8.0
        mix.blend_type = "MULTIPLY"
        mix.inputs["Fac"].default_value = grain * 3
        mix.inputs["Color1"].default_value = rgba
        links.new(noise.outputs["Color"], mix.inputs["Color2"])
        links.new(mix.outputs["Color"], shader.inputs["Base Color"])
    return material


def _printed(path: str, gloss: float) -> Any:
    material = bpy.data.materials.new("print")
    material.use_nodes = True
    nodes, links = material.node_tree.nodes, material.node_tree.links
    shader, picture = nodes["Principled BSDF"], nodes.new("ShaderNodeTexImage")
    picture.image = bpy.data.images.load(path)
    picture.interpolation = "Cubic"
    picture.extension = "EXTEND"
    links.new(picture.outputs["Color"], shader.inputs["Base Color"])
    shader.inputs["Roughness"].default_value = 0.75 - 0.6 * gloss
    return material


def _mesh(name: str, vertices: Any, faces: Any) -> Any:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices, [], faces)
    return mesh


def _box(half_mm: Any, corner_mm: float) -> Any:
    """Return a box whose four upright edges are rounded."""
    a, b, c = (v * MM for v in half_mm)
    r = min(corner_mm * MM, a, b)
    rim = []
    for index, (x, y) in enumerate(((a - r, b - r), (r - a, b - r), (r - a, r - b), (a - r, r - b))):
        steps = range(_ARC + 1) if r > 0 else (0,)
        rim += [
            (x + r * math.cos(math.pi / 2 * (index + s / _ARC)), y + r * math.sin(math.pi / 2 * (index + s / _ARC)))
            for s in steps
        ]
    count = len(rim)
    vertices = [(x, y, -c) for x, y in rim] + [(x, y, c) for x, y in rim]
    sides = [(i, (i + 1) % count, count + (i + 1) % count, count + i) for i in range(count)]
    return _mesh("box", vertices, [tuple(range(count - 1, -1, -1)), tuple(range(count, 2 * count)), *sides])


def _ellipsoid(a: float, b: float, c: float) -> _Shape:
    rings = [(math.cos(t), c * math.sin(t)) for t in np.linspace(-math.pi / 2, math.pi / 2, 13)]
    return _turned([(a * r, b * r, z) for r, z in rings])


def _capsule(radius: float, half: float, _: float) -> _Shape:
    angles = np.linspace(0, math.pi / 2, 6)
    low = [(radius * math.sin(t), -half - radius * math.cos(t)) for t in angles]
    return _turned([(r, r, z) for r, z in low] + [(r, r, -z) for r, z in reversed(low)])


def _cylinder(radius: float, half: float, _: float) -> _Shape:
    return _turned([(0.0, 0.0, -half), (radius, radius, -half), (radius, radius, half), (0.0, 0.0, half)])


def _turned(rings: list[tuple[float, float, float]]) -> _Shape:
    """Return a surface of elliptic rings (radius x, radius y, z), from the lowest to the highest."""
    around = 20
    angles = np.linspace(0, 2 * math.pi, around, endpoint=False)
    vertices = [(float(a * math.cos(t)), float(b * math.sin(t)), float(z)) for a, b, z in rings for t in angles]
    faces: list[tuple[int, ...]] = [
        (i * around + j, i * around + (j + 1) % around, (i + 1) * around + (j + 1) % around, (i + 1) * around + j)
        for i in range(len(rings) - 1)
        for j in range(around)
    ]
    return vertices, faces


def main() -> None:
    """Answer orders until standard input ends."""
    answers = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)  # Blender reports its progress on standard output
    table = None
    for line in sys.stdin:
        order = json.loads(line)
        try:
            if order["order"] == "build":
                table = Table(order)
            elif table is not None:
                table.render(order)
            answers.write('{"ok": true}\n')
        except Exception as error:  # every failure is answered; the driver raises it
            answers.write(json.dumps({"error": f"{type(error).__name__}: {error}"}) + "\n")


if __name__ == "__main__":
    main()
