"""The renderers by name, each imported only when it is needed: the command's help must not need what they need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, get_args

from downfield.core.errors import InputError
from downfield.core.scene import Player

if TYPE_CHECKING:
    from downfield.twin.render.renderer import Renderer
    from downfield.twin.table.appearance import Appearance

RendererName = Literal["compositor", "traced"]
RENDERERS: tuple[RendererName, ...] = get_args(RendererName)


def renderer_named(name: str) -> RendererName:
    """Return the renderer of a name. Raises InputError: there is no such renderer."""
    for known in RENDERERS:
        if known == name:
            return known
    raise InputError(f"no renderer is named '{name}'; there are: {', '.join(RENDERERS)}")


def open_renderer(
    name: RendererName, appearance: Appearance, players: Sequence[Player], *, samples: int | None = None
) -> Renderer:
    """Return a renderer of one appearance and roster.

    Args:
        samples: paths per pixel, for the path tracer; None for its own number.

    Raises:
        MissingExtraError: its packages are not installed.
    """
    if name == "traced":
        from downfield.twin.render.traced_renderer import SAMPLES, TracedRenderer

        return TracedRenderer(appearance, players, samples=samples or SAMPLES)
    from downfield.twin.render.compositor import Compositor

    return Compositor(appearance, players)
