"""The fast renderer: the print through the exact lens, shadows cast by geometry, figures by MuJoCo's own renderer.

MuJoCo draws figures, ball, hands, rail and clutter as an exact pinhole picture a little wider than the lens's view, on
a transparent background. Colors come premultiplied by coverage, so edges stay smooth through the lens and over any
ground.
"""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.calibration.camera import Camera, Lens
from downfield.core.arrays import Array, Image
from downfield.core.errors import DownfieldError, MissingExtraError
from downfield.core.scene import Player
from downfield.twin.render.board import BoardLayer, BoardLight, lens_grid
from downfield.twin.render.figure_mesh import Mesh, figure_mesh
from downfield.twin.render.renderer import TableRenderer
from downfield.twin.table.appearance import Appearance, Color, FigureAppearance, Lamp, Solid
from downfield.twin.table.snapshot import Snapshot
from downfield.twin.table.solids import PlacedSolids, loose_solids, rail_solids

try:
    import mujoco
except ModuleNotFoundError:
    raise MissingExtraError("twin", "the fast renderer") from None

_SAMPLES = 4  # per pixel, against jagged edges
_NEAR_MM, _FAR_MM = 50.0, 20_000.0
_PALETTE_SIDE = 16  # texels: 256 colors, more where a table has more
_FACETS = 16  # of hands' and sticks' round solids
_BALL = -2  # index of the ball among the moved bodies; the last one holds all fixed solids
_MAX_LAMPS = 8  # limit of OpenGL
_GEOM_TYPE = {
    "box": mujoco.mjtGeom.mjGEOM_BOX,
    "ellipsoid": mujoco.mjtGeom.mjGEOM_ELLIPSOID,
    "capsule": mujoco.mjtGeom.mjGEOM_CAPSULE,
    "cylinder": mujoco.mjtGeom.mjGEOM_CYLINDER,
}

# MuJoCo's coverage of a clear solid by the alpha it is drawn with; see `_blending_factor`.
_ALPHAS = np.linspace(0, 1, 1001)
_LEFT_BEHIND = _ALPHAS**2 * (2 - _ALPHAS)

Layer = NDArray[np.uint8]

_LIBRARIES = {"mujoco.egl": ("libEGL.so.1", "libGL.so.1"), "mujoco.osmesa": ("libOSMesa.so.8", "libGL.so.1")}
_MISSING = (
    "the renderer needs EGL and GL: install libegl1 libegl-mesa0 libgl1-mesa-dri libgl1 (Debian's names; with "
    "libosmesa6 in place of the first two it draws as well, more slowly)"
)


class MujocoRenderer(TableRenderer):
    """Draws one appearance; holds an OpenGL context until closed. Raises DownfieldError: there is no OpenGL."""

    def __init__(self, appearance: Appearance, players: Sequence[Player]) -> None:
        super().__init__(appearance, players)
        self._board, self._light = BoardLayer(appearance), BoardLight(appearance)
        self._figures = FigureLayer(appearance, players)

    def close(self) -> None:
        """Release the OpenGL context."""
        self._figures.close()

    def _draw(self, snapshot: Snapshot, placed: PlacedSolids, camera: Camera, t_ns: int) -> Image:
        del t_ns
        ground = self._light.shine(self._board.draw(camera), placed, camera)
        figures = self._light.dim_bases(self._figures.draw(snapshot, camera), placed, camera)
        return _laid_over(ground, figures)


def _laid_over(ground: Image, layer: Layer) -> Image:
    """Return a premultiplied layer over a picture."""
    through = cv2.cvtColor(255 - layer[:, :, 3], cv2.COLOR_GRAY2BGR)
    image = cv2.multiply(ground, through, scale=1 / 255)
    return np.asarray(cv2.add(image, cv2.cvtColor(layer, cv2.COLOR_BGRA2BGR)), dtype=np.uint8)


class FigureLayer:
    """The solids of one appearance and roster. Raises DownfieldError: this machine has no OpenGL."""

    def __init__(self, appearance: Appearance, players: Sequence[Player]) -> None:
        self._appearance = appearance
        self._window = _Window(appearance.camera.lens)
        self._context = open_context(self._window.width, self._window.height)
        self._model = _model(appearance, players, self._window)
        self._data = mujoco.MjData(self._model)
        self._scene = mujoco.MjvScene(self._model, maxgeom=2000)
        self._scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = False
        self._scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = False
        self._scene.flags[mujoco.mjtRndFlag.mjRND_SKYBOX] = False
        self._option = mujoco.MjvOption()
        self._any_camera = mujoco.MjvCamera()
        self._gpu = mujoco.MjrContext(self._model, mujoco.mjtFontScale.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._gpu)

    def draw(self, snapshot: Snapshot, camera: Camera) -> Layer:
        """Return the solids seen by the lens: uint8 blue green red alpha, premultiplied, shape (height, width, 4)."""
        if camera.lens != self._appearance.camera.lens:
            message = "the camera's lens differs from the appearance's lens; make a renderer for that lens"
            raise ValueError(message)
        self._context.make_current()
        for i, pose in enumerate(snapshot.figures):
            self._data.mocap_pos[i] = pose.position_mm
            self._data.mocap_quat[i] = pose.rotation
        if snapshot.ball is not None:
            self._data.mocap_pos[_BALL] = snapshot.ball.position_mm
            self._data.mocap_quat[_BALL] = snapshot.ball.rotation
        else:
            self._data.mocap_pos[_BALL] = (0.0, 0.0, -_FAR_MM)
        mujoco.mj_kinematics(self._model, self._data)
        mujoco.mj_camlight(self._model, self._data)
        shown = mujoco.mjtCatBit.mjCAT_ALL.value
        mujoco.mjv_updateScene(self._model, self._data, self._option, None, self._any_camera, shown, self._scene)
        for solid in loose_solids(self._appearance, snapshot):
            _add_geom(self._scene, solid)
        self._window.aim(self._scene, camera)
        mujoco.mjr_render(self._window.rect, self._scene, self._gpu)
        return self._window.through_lens(self._read())

    def close(self) -> None:
        """Free the context; drawing afterwards is an error."""
        if self._context is not None:
            self._context.make_current()
            self._gpu.free()
            self._context.free()
            self._context = None

    def _read(self) -> Layer:
        """Return the picture with its alpha, which MuJoCo's own read function omits; rows from the bottom up."""
        from OpenGL import GL

        if self._gpu.offSamples:
            GL.glBindFramebuffer(GL.GL_READ_FRAMEBUFFER, self._gpu.offFBO)
            GL.glBindFramebuffer(GL.GL_DRAW_FRAMEBUFFER, self._gpu.offFBO_r)
            box = (0, 0, self._window.width, self._window.height)
            GL.glBlitFramebuffer(*box, *box, GL.GL_COLOR_BUFFER_BIT, GL.GL_NEAREST)
            GL.glBindFramebuffer(GL.GL_READ_FRAMEBUFFER, self._gpu.offFBO_r)
        pixels = np.empty((self._window.height, self._window.width, 4), dtype=np.uint8)
        GL.glPixelStorei(GL.GL_PACK_ALIGNMENT, 1)
        GL.glReadPixels(0, 0, self._window.width, self._window.height, GL.GL_BGRA, GL.GL_UNSIGNED_BYTE, pixels)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._gpu)
        return pixels


class _Window:
    """The pinhole picture that contains a lens's whole view, and the mapping through the lens."""

    def __init__(self, lens: Lens) -> None:
        self._lens = lens
        grid = lens_grid(lens)
        rays = grid.rays.reshape(-1, 2)
        self._low, self._high = np.nanmin(rays, axis=0), np.nanmax(rays, axis=0)
        self._focal = np.array(lens.focal_px)
        self.width, self.height = (int(side) for side in np.ceil((self._high - self._low) * self._focal))
        self._high = self._low + np.array([self.width, self.height]) / self._focal
        self.rect = mujoco.MjrRect(0, 0, self.width, self.height)
        x = (grid.rays[..., 0] - self._low[0]) * self._focal[0] - 0.5
        # OpenGL gives the lowest row first.
        y = (self._high[1] - grid.rays[..., 1]) * self._focal[1] - 0.5
        self._maps = grid.pixel_map(np.nan_to_num(x, nan=-1e4), np.nan_to_num(y, nan=-1e4))

    def aim(self, scene: Any, camera: Camera) -> None:
        """Align the scene's two eyes, which are the same here, with a camera."""
        turn, at = camera.board_to_camera, camera.position_mm
        for eye in scene.camera:
            eye.pos, eye.forward, eye.up = at, turn[2], -turn[1]
            eye.orthographic = 0
            eye.frustum_near, eye.frustum_far = _NEAR_MM, _FAR_MM
            eye.frustum_center = (self._low[0] + self._high[0]) / 2 * _NEAR_MM
            eye.frustum_width = (self._high[0] - self._low[0]) / 2 * _NEAR_MM
            eye.frustum_bottom, eye.frustum_top = -self._high[1] * _NEAR_MM, -self._low[1] * _NEAR_MM

    def through_lens(self, pixels: Layer) -> Layer:
        """Return a pinhole picture distorted by the lens."""
        nothing = (0, 0, 0, 0)
        bent = cv2.remap(pixels, *self._maps, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=nothing)
        return np.asarray(bent, dtype=np.uint8)


def _model(appearance: Appearance, players: Sequence[Player], window: _Window) -> Any:
    spec = mujoco.MjSpec()
    spec.compiler.balanceinertia = True
    vis = spec.visual
    vis.global_.offwidth, vis.global_.offheight = window.width, window.height
    vis.quality.offsamples, vis.quality.shadowsize = _SAMPLES, 0
    vis.quality.numslices = vis.quality.numstacks = _FACETS
    vis.headlight.active = 0
    still = FigureAppearance((*appearance.clutter, *rail_solids(appearance)))
    owners = [
        *zip(appearance.figures, (player.base.corner_mm for player in players), strict=True),
        (appearance.ball, 0.0),
        (still, 0.0),
    ]
    palette = _Palette(solid.color for figure, _ in owners for solid in figure.solids)
    palette.add_to(spec)
    for index, (figure, corner_mm) in enumerate(owners):
        body = spec.worldbody.add_body(name=f"owner{index}", mocap=True)
        _add_figure(spec, body, figure, corner_mm, palette, f"owner{index}")
    for index, lamp in enumerate(appearance.lamps[:_MAX_LAMPS]):
        _add_lamp(spec, lamp, appearance.ambient if index == 0 else 0.0)
    return spec.compile()


class _Palette:
    """All colors as one texture, so that a figure of many colors is one mesh."""

    def __init__(self, colors: Any) -> None:
        self._places: dict[Color, int] = {}
        for color in colors:
            self._places.setdefault(color, len(self._places))
        self._side = max(_PALETTE_SIDE, int(np.ceil(np.sqrt(len(self._places)))))

    def add_to(self, spec: Any) -> None:
        """Add the texture and its material to a model."""
        texels = np.zeros((self._side * self._side, 3), dtype=np.uint8)
        for color, place in self._places.items():
            texels[place] = np.clip(np.array(color) * 255 + 0.5, 0, 255)
        texture = spec.add_texture(
            name="palette", type=mujoco.mjtTexture.mjTEXTURE_2D, width=self._side, height=self._side, nchannel=3
        )
        texture.data = texels.tobytes()
        material = spec.add_material(name="painted", specular=0.35, shininess=0.4)
        material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "palette"

    def coordinates(self, colors: Sequence[Color]) -> Array:
        """Return the texture coordinates of colors, shape (n, 2)."""
        places = np.array([self._places[color] for color in colors])
        rows, columns = np.divmod(places, self._side)
        return (np.column_stack([columns, rows]) + 0.5) / self._side


def _add_figure(spec: Any, body: Any, figure: FigureAppearance, corner_mm: float, palette: _Palette, name: str) -> None:
    opaque = [solid for solid in figure.solids if solid.opacity >= 1]
    if opaque:
        mesh = figure_mesh(opaque, corner_mm)
        colors = [opaque[k].color for k in mesh.solid]
        _add_mesh(spec, body, mesh, f"{name}-opaque", palette.coordinates(colors), "painted")
    glossy = spec.material("painted")
    for index, solid in enumerate(solid for solid in figure.solids if solid.opacity < 1):
        factor = _blending_factor(solid.opacity)
        surface = f"{name}-surface{index}"
        rgba = [*(channel * factor for channel in solid.color), factor]
        spec.add_material(name=surface, rgba=rgba, specular=glossy.specular, shininess=glossy.shininess)
        mesh = figure_mesh([solid], corner_mm)
        _add_mesh(spec, body, mesh, f"{name}-clear{index}", np.zeros((len(mesh.vertices_mm), 2)), surface)


def _blending_factor(opacity: float) -> float:
    """Return the alpha, and the factor on the color, that give a clear solid's premultiplied color and coverage.

    MuJoCo draws clear solids twice, and its blending squares alpha: an alpha of f becomes f^2 (2 - f).
    """
    return float(np.interp(opacity, _LEFT_BEHIND, _ALPHAS))


def _add_mesh(spec: Any, body: Any, mesh: Mesh, name: str, texture: Array, material: str) -> None:
    spec.add_mesh(
        name=name,
        uservert=mesh.vertices_mm.ravel(),
        usernormal=mesh.normals.ravel(),
        usertexcoord=texture.ravel(),
        userface=mesh.faces.ravel(),
        inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL,
    )
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name, contype=0, conaffinity=0, material=material)


def _add_lamp(spec: Any, lamp: Lamp, ambient: float) -> None:
    light = spec.worldbody.add_light(pos=lamp.position_mm, dir=[0, 0, -1], castshadow=False)
    # MuJoCo's classic renderer does not draw point lights; a spot of the greatest width replaces one.
    light.type = mujoco.mjtLightType.mjLIGHT_SPOT
    light.cutoff, light.exponent = 180, 0
    light.diffuse = [lamp.strength * channel for channel in lamp.color]
    light.specular = [0.5 * lamp.strength * channel for channel in lamp.color]
    light.ambient = [ambient] * 3
    light.attenuation = [1, 0, 0]
    light.range = _FAR_MM


def _add_geom(scene: Any, solid: Solid) -> None:
    a, b, c = solid.size_mm
    size = {"box": (a, b, c), "ellipsoid": (a, b, c), "capsule": (a, b, 0.0), "cylinder": (a, b, 0.0)}[solid.kind]
    turn = np.empty(9)
    mujoco.mju_quat2Mat(turn, np.array(solid.rotation))
    rgba = np.array([*solid.color, solid.opacity], dtype=np.float32)
    geom = scene.geoms[scene.ngeom]
    mujoco.mjv_initGeom(geom, _GEOM_TYPE[solid.kind], np.array(size), np.array(solid.position_mm), turn, rgba)
    scene.ngeom += 1


def open_context(width: int, height: int) -> Any:
    """Return a current headless OpenGL context, EGL or else OSMesa, with ``make_current()`` and ``free()``.

    MuJoCo chooses its platform from the environment when it is first imported, and chooses wrongly on a machine without
    a screen; so the context is created here, independent of MuJoCo's import.

    Raises:
        DownfieldError: this machine has neither EGL nor OSMesa; names the packages.
    """
    reason = ""
    for module, libraries in _LIBRARIES.items():
        if not all(_loads(library) for library in libraries):
            continue
        try:
            context = importlib.import_module(module).GLContext(width, height)
            context.make_current()
        except (ImportError, RuntimeError, AttributeError, OSError) as error:
            reason = f" ({module}: {error})"
        else:
            return context
    raise DownfieldError(_MISSING + reason)


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True
