"""Draws pictures of the strangers' sets in Blender: run by `strangers.py` and `strangers_clips.py` with a ``bpy``.

Reads a scene as JSON from the file named first. A still is written as a PNG and the object index of every pixel
(`.npy`) to the names that follow. A scene with frames is a clip: a PNG of each frame that is missing in the folder that
follows. Lengths come in millimeters; 100 of them are one unit.
"""

from __future__ import annotations

import json
import math
import os
import sys
from typing import Any

import bpy

# isort: split
import bmesh  # there only once bpy has been imported
import numpy as np
from mathutils import Matrix

UNIT = 0.01  # units per mm


def main() -> None:
    """Draw a scene."""
    order = json.loads(open(sys.argv[1]).read())  # noqa: PTH123, SIM115
    bpy.ops.wm.read_factory_settings(use_empty=True)
    _ground(order)
    for box in order["clutter"]:
        _box(box["at"], box["half"], box["turn"], _material(box["color"], box["rough"]), 0, box["bevel"])
    _light(order)
    _camera(order["pinhole"])
    _quality(bpy.context.scene, order)
    if "frames" in order:
        _draw_clip(order, sys.argv[2])
        return
    for number, figure in enumerate(order["figures"]):
        _figure(number, figure)
    _movable(order)
    _draw_still(bpy.context.scene, sys.argv[2], sys.argv[3])


def _movable(order: Any) -> None:
    """Hands and ball."""
    for number, hand in enumerate(order["hands"]):
        _skin(f"hand{number}", hand["balls"], hand["color"], 0.55, Matrix.Identity(4), 6001 + number, 1.45)
        _skin(f"sleeve{number}", hand["sleeve"], hand["sleeve_color"], 0.95, Matrix.Identity(4), 6001 + number, 1.6)
    if order["ball"]:
        ball = order["ball"]
        thing = _sphere(ball["at"], ball["radii"], _material(ball["color"], 0.5), 5001)
        thing.rotation_euler = (0.0, ball["pitch"], ball["turn"])


def _draw_clip(order: Any, folder: str) -> None:
    """Draw the missing frames; figures are built once and moved.

    A frame that is the same as an earlier one is left out, and where only a part of the picture changes, only it is
    drawn.
    """
    scene = bpy.context.scene
    scene.render.use_persistent_data = True
    scene.render.image_settings.file_format = "PNG"
    scene.render.image_settings.color_mode, scene.render.image_settings.compression = "RGBA", 15
    parts = []
    for number, figure in enumerate(order["figures"]):
        before = set(bpy.data.objects)
        _figure(number, figure, coarse=1.5)
        still = Matrix(figure["pose"])
        still.translation = [v * UNIT for v in still.translation]
        parts.append([(thing, still.inverted() @ thing.matrix_world) for thing in set(bpy.data.objects) - before])
    scene.render.use_crop_to_border = False
    for number, frame in enumerate(order["frames"]):
        if frame["same_as"] != number:
            continue
        render = scene.render
        render.use_border = frame["part"] is not None
        if frame["part"] is not None:
            render.border_min_x, render.border_min_y, render.border_max_x, render.border_max_y = frame["part"]
        name = os.path.join(folder, f"{number:04d}.png")  # noqa: PTH118
        if os.path.exists(name):  # noqa: PTH110
            continue
        for things, rows in zip(parts, frame["poses"], strict=True):
            pose = Matrix(rows)
            pose.translation = [v * UNIT for v in pose.translation]
            for thing, local in things:
                thing.matrix_world = pose @ local
        before = set(bpy.data.objects)
        _movable(frame)
        made = set(bpy.data.objects) - before
        scene.render.filepath = os.path.join(folder, "part.png")  # noqa: PTH118
        bpy.ops.render.render(write_still=True)
        os.replace(scene.render.filepath, name)  # noqa: PTH105
        for thing in made:
            bpy.data.objects.remove(thing, do_unlink=True)


def _material(color: Any, rough: float, alpha: float = 1.0, clearcoat: float = 0.0) -> Any:
    material = bpy.data.materials.new("m")
    material.use_nodes = True
    shader = material.node_tree.nodes["Principled BSDF"]
    linear = [((c + 0.055) / 1.055) ** 2.4 if c > 0.04045 else c / 12.92 for c in color]
    shader.inputs["Base Color"].default_value = (*linear, 1.0)
    shader.inputs["Roughness"].default_value = rough
    shader.inputs["Coat Weight"].default_value = clearcoat
    if alpha < 1:
        shader.inputs["Alpha"].default_value = alpha  # thin plastic: light that refraction bends takes many more paths
    return material


def _add(mesh: Any, material: Any, index: int, *, smooth: bool) -> Any:
    thing = bpy.data.objects.new("o", mesh)
    thing.pass_index = index
    mesh.materials.append(material)
    if smooth:
        mesh.polygons.foreach_set("use_smooth", [True] * len(mesh.polygons))
    bpy.context.scene.collection.objects.link(thing)
    return thing


def _box(at: Any, half: Any, turn: float, material: Any, index: int, bevel: float) -> Any:
    shape = bmesh.new()
    bmesh.ops.create_cube(shape, size=2.0)
    bmesh.ops.scale(shape, vec=[h * UNIT for h in half], verts=shape.verts)
    if bevel > 0:
        bmesh.ops.bevel(shape, geom=shape.edges, offset=bevel * UNIT, segments=3, affect="EDGES")
    mesh = bpy.data.meshes.new("box")
    shape.to_mesh(mesh)
    thing = _add(mesh, material, index, smooth=False)
    thing.matrix_world = Matrix.Translation([v * UNIT for v in at]) @ Matrix.Rotation(turn, 4, "Z")
    return thing


def _sphere(at: Any, radii: Any, material: Any, index: int) -> Any:
    shape = bmesh.new()
    bmesh.ops.create_uvsphere(shape, u_segments=32, v_segments=20, radius=1.0)
    mesh = bpy.data.meshes.new("sphere")
    shape.to_mesh(mesh)
    thing = _add(mesh, material, index, smooth=True)
    thing.location, thing.scale = [v * UNIT for v in at], [r * UNIT for r in radii]
    return thing


def _skin(
    name: str, balls: Any, color: Any, rough: float, pose: Any, index: int, swell: float = 1.35, coarse: float = 1.0
) -> None:
    """Balls melted into one smooth body, as meshes in the pose."""
    if not balls:
        return
    melted = bpy.data.metaballs.new(name)
    melted.resolution = melted.render_resolution = coarse * (0.01 if swell < 1.4 else 0.03)
    melted.threshold = 0.25
    for x, y, z, r in balls:
        element = melted.elements.new()
        element.co, element.radius = (x * UNIT, y * UNIT, z * UNIT), swell * r * UNIT
    thing = bpy.data.objects.new(name, melted)
    bpy.context.scene.collection.objects.link(thing)
    bpy.context.view_layer.update()
    evaluated = thing.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = bpy.data.meshes.new_from_object(evaluated)
    bpy.data.objects.remove(thing, do_unlink=True)
    made = _add(mesh, _material(color, rough), index, smooth=True)
    made.matrix_world = pose


def _base_outline(base: Any) -> list[tuple[float, float]]:
    """The base's outline from above: rounded rear corners, a front that is square, rounded or cut."""
    half_x, half_y, r = base["length"] / 2, base["width"] / 2, base["corner"]
    front = {"square": r, "rounded": min(half_y * 0.8, 3 * r + 2.0), "cut": r}[base["front"]]
    points = []
    for sx, sy, radius in ((1, 1, front), (-1, 1, r), (-1, -1, r), (1, -1, front)):
        start = {(1, 1): 0, (-1, 1): 90, (-1, -1): 180, (1, -1): 270}[sx, sy]
        for step in range(7):
            turn = math.radians(start + 15 * step)
            points.append(
                (sx * (half_x - radius) + radius * math.cos(turn), sy * (half_y - radius) + radius * math.sin(turn))
            )
    return points


def _figure(number: int, figure: Any, coarse: float = 1.0) -> None:
    base, pose = figure["base"], Matrix(figure["pose"])
    pose.translation = [v * UNIT for v in pose.translation]
    plastic = _material(base["color"], base["rough"], base["alpha"], base["coat"])
    shape = bmesh.new()
    ring = [shape.verts.new((x * UNIT, y * UNIT, 0.0)) for x, y in _base_outline(base)]
    face = shape.faces.new(ring)
    up = bmesh.ops.extrude_face_region(shape, geom=[face])["geom"]
    bmesh.ops.translate(
        shape, vec=(0, 0, base["height"] * UNIT), verts=[v for v in up if isinstance(v, bmesh.types.BMVert)]
    )
    bmesh.ops.recalc_face_normals(shape, faces=shape.faces)
    top = [f for f in shape.faces if f.normal.z > 0.9]
    lid = bmesh.new()
    lid.faces.new([lid.verts.new(v.co) for v in top[0].verts])
    bmesh.ops.delete(shape, geom=top, context="FACES_ONLY")
    for part, index in ((shape, 10 * number + 2), (lid, 10 * number + 1)):
        mesh = bpy.data.meshes.new("base")
        part.to_mesh(mesh)
        _add(mesh, plastic, index, smooth=False).matrix_world = pose
    for x, y, r, h, color in base["details"]:
        dial = bmesh.new()
        bmesh.ops.create_cone(dial, cap_ends=True, segments=24, radius1=r * UNIT, radius2=r * UNIT, depth=h * UNIT)
        mesh = bpy.data.meshes.new("dial")
        dial.to_mesh(mesh)
        lifted = Matrix.Translation((x * UNIT, y * UNIT, (base["height"] + h / 2) * UNIT))
        _add(mesh, _material(color, 0.4), 10 * number + 1, smooth=False).matrix_world = pose @ lifted
    for name in ("shirt", "pants", "skin"):
        color, rough = figure[f"{name}_color"], figure["rough"]
        _skin(f"{name}{number}x", figure[name], color, rough, pose, 10 * number + 3, coarse=coarse)
    x, y, z, r = figure["helmet"]
    helmet = _sphere(
        (0, 0, 0), (1.08 * r, r, r), _material(figure["helmet_color"], 0.2, clearcoat=0.6), 10 * number + 4
    )
    helmet.matrix_world = (
        pose
        @ Matrix.Translation((x * UNIT, y * UNIT, z * UNIT))
        @ Matrix.Diagonal((1.08 * r * UNIT, r * UNIT, r * UNIT, 1))
    )
    for k in range(figure["bars"]):
        bpy.ops.mesh.primitive_torus_add(
            major_radius=0.86 * r * UNIT, minor_radius=0.09 * r * UNIT, major_segments=24, minor_segments=8
        )
        bar = bpy.context.object
        bar.pass_index = 10 * number + 4
        bar.data.materials.append(_material(figure["bar_color"], 0.4))
        bar.matrix_world = pose @ Matrix.Translation(
            ((x + 0.42 * r) * UNIT, y * UNIT, (z - (0.1 + 0.32 * k) * r) * UNIT)
        )


def _ground(order: Any) -> None:
    (x0, y0), (x1, y1), z = order["low"], order["high"], 0.0
    for corners, height, index in (((x0, y0, x1, y1), z, 0), ((-3000, -3000, 4000, 3500), -order["board_mm"], 0)):
        a, b, c, d = (v * UNIT for v in corners)
        mesh = bpy.data.meshes.new("ground")
        mesh.from_pydata(
            [(a, b, height * UNIT), (c, b, height * UNIT), (c, d, height * UNIT), (a, d, height * UNIT)],
            [],
            [(0, 1, 2, 3)],
        )
        layer = mesh.uv_layers.new()
        for loop, uv in zip(layer.data, ((0, 0), (1, 0), (1, 1), (0, 1)), strict=True):
            loop.uv = uv
        material = _material(order["table"], 0.7)
        if height == 0.0:
            material = _material((0.5, 0.5, 0.5), order["board_rough"])
            nodes = material.node_tree
            picture = nodes.nodes.new("ShaderNodeTexImage")
            picture.image = bpy.data.images.load(order["print"])
            nodes.links.new(picture.outputs["Color"], nodes.nodes["Principled BSDF"].inputs["Base Color"])
        _add(mesh, material, index, smooth=False)
    middle, half = ((x0 + x1) / 2, (y0 + y1) / 2), ((x1 - x0) / 2, (y1 - y0) / 2)
    _box(
        (*middle, -order["board_mm"] / 2 - 0.1),
        (*half, order["board_mm"] / 2 - 0.05),
        0.0,
        _material(order["rim"], 0.5),
        0,
        0.0,
    )


def _light(order: Any) -> None:
    world = bpy.data.worlds.new("w")
    bpy.context.scene.world = world
    world.use_nodes = True
    world.node_tree.nodes["Background"].inputs["Color"].default_value = (*order["ambient_color"], 1.0)
    world.node_tree.nodes["Background"].inputs["Strength"].default_value = order["ambient"]
    for lamp in order["lamps"]:
        light = bpy.data.lights.new("l", "AREA")
        light.energy, light.color = lamp["watts"], lamp["color"]
        light.shape, light.size, light.size_y = "RECTANGLE", lamp["size"][0] * UNIT, lamp["size"][1] * UNIT
        thing = bpy.data.objects.new("l", light)
        bpy.context.scene.collection.objects.link(thing)
        place = np.array(lamp["at"]) * UNIT
        toward = np.array(lamp["toward"]) * UNIT - place
        thing.location = place
        thing.rotation_euler = _toward(toward)


def _toward(way: Any) -> Any:
    from mathutils import Vector

    return Vector(way).to_track_quat("-Z", "Y").to_euler()


def _camera(pinhole: Any) -> None:
    camera = bpy.data.cameras.new("c")
    wide, high = pinhole["size"]
    camera.sensor_fit, camera.sensor_width = "HORIZONTAL", 36.0
    camera.lens = pinhole["focal"] / wide * 36.0
    camera.shift_x = (wide / 2 - pinhole["center"][0] - 0.5) / wide
    camera.shift_y = (pinhole["center"][1] + 0.5 - high / 2) / wide
    camera.clip_start, camera.clip_end = 0.01, 1000.0
    thing = bpy.data.objects.new("c", camera)
    bpy.context.scene.collection.objects.link(thing)
    to_camera = np.array(pinhole["to_camera"])
    world = np.eye(4)
    world[:3, :3] = to_camera.T @ np.diag([1.0, -1.0, -1.0])
    world[:3, 3] = np.array(pinhole["eye"]) * UNIT
    thing.matrix_world = Matrix(world.tolist())
    bpy.context.scene.camera = thing


def _quality(scene: Any, order: Any) -> None:
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.use_denoising = order["samples"], True
    # The slower kinds of denoising take several times as long as all paths, and a webcam's faults hide what they add.
    scene.cycles.denoising_prefilter, scene.cycles.denoising_quality = "NONE", "FAST"
    scene.cycles.max_bounces = 3
    scene.cycles.caustics_reflective = scene.cycles.caustics_refractive = False
    scene.render.threads_mode, scene.render.threads = "FIXED", order["threads"]
    scene.render.resolution_x, scene.render.resolution_y = order["pinhole"]["size"]
    scene.render.resolution_percentage = 100
    scene.view_settings.view_transform = order["tone"]
    scene.view_settings.exposure = order["exposure"]


def _draw_still(scene: Any, png: str, index: str) -> None:
    bpy.context.view_layer.use_pass_object_index = True
    scene.use_nodes = True
    nodes = scene.node_tree
    nodes.nodes.clear()
    layers, out = nodes.nodes.new("CompositorNodeRLayers"), nodes.nodes.new("CompositorNodeOutputFile")
    composite = nodes.nodes.new("CompositorNodeComposite")
    nodes.links.new(layers.outputs["Image"], composite.inputs["Image"])
    out.base_path, out.format.file_format, out.format.color_depth = index + ".d", "OPEN_EXR", "32"
    nodes.links.new(layers.outputs["IndexOB"], out.inputs[0])
    scene.render.image_settings.file_format = "PNG"
    scene.render.filepath = png
    bpy.ops.render.render(write_still=True)
    image = bpy.data.images.load(index + ".d/Image0001.exr")
    wide, high = image.size
    pixels = np.empty(high * wide * image.channels, dtype=np.float32)
    image.pixels.foreach_get(pixels)
    np.save(index, np.rint(pixels.reshape(high, wide, image.channels)[::-1, :, 0]).astype(np.int32))


if __name__ == "__main__":
    main()
