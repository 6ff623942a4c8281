"""The renderers by name, each imported only when it is needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from downfield.core.errors import InputError
from downfield.core.scene import Player
from downfield.twin.appearance import Appearance
from downfield.twin.render.renderer import Renderer

RendererName = Literal["compositor", "mujoco", "traced"]
RENDERERS: tuple[RendererName, ...] = get_args(RendererName)


def renderer_named(name: str) -> RendererName:
    """Return the renderer of a name.

    Raises:
        InputError: there is no such renderer.

    """
    for known in RENDERERS:
        if known == name:
            return known
    raise InputError(f"no renderer is named '{name}'; there are: {', '.join(RENDERERS)}")


def open_renderer(name: RendererName, appearance: Appearance, players: Sequence[Player]) -> Renderer:
    """Return a renderer of one appearance and roster; close it when done.

    Raises:
        MissingExtraError: its packages are not installed.
        DownfieldError: this machine can't run it.

    """
    if name == "mujoco":
        from downfield.twin.render.render_mujoco import MujocoRenderer

        return MujocoRenderer(appearance, players)
    if name == "traced":
        from downfield.twin.render.render_traced import TracedRenderer

        return TracedRenderer(appearance, players)
    from downfield.twin.render.compositor import Compositor

    return Compositor(appearance, players)
