"""The overlays that are installed: those in this folder, and those of packages in the group ``downfield.overlays``.

An overlay is declared by a file ``NAME.overlay.toml``: its title, what it shows, the topics of the feed that it
follows, its size and the options of its address. The service's routes, the start page, the addresses for OBS, the
scripts' types and docs/overlays.md are made from these declarations. A package that is broken is named in `problems`,
and leaves the others as they are.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from downfield.core.platform.packages import distribution
from downfield.game.published.stream_topics import OnAirElement

GROUP: Final = "downfield.overlays"
SUFFIX: Final = ".overlay.toml"

POSITIONS: Final = ("top-left", "top", "top-right", "bottom-left", "bottom", "bottom-right")
FILE_TYPES: Final = (".js", ".css", ".svg", ".png", ".woff2")
"""Files beside a declaration that are served, by their endings."""

_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,39}")


class _Declared(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class WordOption(_Declared):
    """An option that is one of some words; the first is the default."""

    kind: Literal["word"]
    help: str
    words: Annotated[tuple[str, ...], Field(min_length=2)]


class NumberOption(_Declared):
    """An option that is a number within bounds."""

    kind: Literal["number"]
    help: str
    default: float
    low: float
    high: float


class ColorOption(_Declared):
    """An option that is a color such as ``00b140``, or one of some words; the first is the default."""

    kind: Literal["color"]
    help: str
    words: Annotated[tuple[str, ...], Field(min_length=1)]


class TokenOption(_Declared):
    """An option that is the token of a device; empty by default."""

    kind: Literal["token"]
    help: str


OverlayOption = Annotated[WordOption | NumberOption | ColorOption | TokenOption, Field(discriminator="kind")]

COMMON: Final[Mapping[str, OverlayOption]] = MappingProxyType(
    {
        "scale": NumberOption(kind="number", help="size", default=1, low=0.3, high=3),
        "theme": WordOption(kind="word", help="dark or light", words=("dark", "light")),
        "background": ColorOption(
            kind="color", help="color behind it, for mixers that key it out", words=("transparent",)
        ),
        "key": TokenOption(kind="token", help="token of a paired viewer, if OBS runs on another computer"),
    }
)
"""The options that every overlay has, after its position."""


class Overlay(_Declared):
    """What is declared of an overlay."""

    name: str = Field(description="Its address is `/overlay/` and this.")
    package: str = Field(description="Whose files are in `/assets/` and this; empty for Downfield's own.")
    title: Annotated[str, Field(min_length=1, max_length=40)]
    about: Annotated[str, Field(min_length=1, max_length=200, description="What it shows.")]
    topics: tuple[str, ...] = Field(description="Topics of the feed that it follows.")
    on_air: OnAirElement | None = Field(
        default=None, description="The producer's switch that takes it off the air; null for none."
    )
    width: int = Field(default=1920, ge=1, le=7680, description="Of the browser source in OBS, pixels.")
    height: int = Field(default=1080, ge=1, le=4320)
    options: dict[str, OverlayOption] = Field(description="Options of its address, by name.")


@dataclass(frozen=True, slots=True)
class InstalledOverlays:
    """The overlays of this installation."""

    overlays: Mapping[str, Overlay]  # by name, sorted by title
    files: Mapping[str, Traversable]  # their scripts, styles and pictures by place in the assets
    problems: tuple[str, ...] = ()  # a sentence about each package whose overlays can't be used


@cache
def installed_overlays() -> InstalledOverlays:
    """Return the overlays of this installation; found once."""
    overlays, kept, problems = dict[str, Overlay](), dict[str, Traversable](), list[str]()
    for overlay, beside in _overlays_in(files(__package__)):
        overlays[overlay.name] = overlay
        kept |= beside
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: (distribution(entry), entry.name)):
        try:
            found = list(_overlays_of(entry, overlays))
        except Exception as error:
            problems.append(
                f"The overlays of the package {distribution(entry)} can't be used: {_reason(error)}."
                " Update or uninstall that package."
            )
            continue
        for overlay, beside in found:
            overlays[overlay.name] = overlay
            kept |= beside
    by_title = sorted(overlays.values(), key=lambda overlay: overlay.title)
    return InstalledOverlays({overlay.name: overlay for overlay in by_title}, kept, tuple(problems))


def _overlays_of(entry: EntryPoint, taken: Mapping[str, Overlay]) -> Iterator[tuple[Overlay, dict[str, Traversable]]]:
    """Yield what `_overlays_in` yields of a package. Raises ValueError: it declares none, or a name is taken."""
    found = False
    for overlay, beside in _overlays_in(_folder_of(entry), entry.module):
        if overlay.name in taken:
            raise ValueError(f"{overlay.name} exists already")
        found = True
        yield overlay, beside
    if not found:
        raise ValueError(f"{entry.value} has no file NAME{SUFFIX}")


def _folder_of(entry: EntryPoint) -> Traversable:
    """Return the folder of a package; it may lack an ``__init__.py``."""
    module = entry.load()
    # A package without `__init__.py` may have several paths, and an editable install adds one that is no folder, which
    # `files` refuses.
    folders = (Path(path) for path in getattr(module, "__path__", ()))
    return next((folder for folder in folders if folder.is_dir()), None) or files(module)


def _overlays_in(folder: Traversable, package: str = "") -> Iterator[tuple[Overlay, dict[str, Traversable]]]:
    """Yield each overlay that a folder declares, and the files served for it. Raises ValueError: one can't be used."""
    there = sorted(folder.iterdir(), key=lambda file: file.name)
    names = [file.name.removesuffix(SUFFIX) for file in there if file.name.endswith(SUFFIX)]
    place = f"{package}/" if package else ""
    beside = {f"{place}{file.name}": file for file in there if file.name.endswith(FILE_TYPES)}
    for name in names:
        if _NAME.fullmatch(name) is None:
            raise ValueError(f"{name}{SUFFIX} is no name of an overlay: use a-z, 0-9 and -")
        if f"{place}{name}.js" not in beside:
            raise ValueError(f"{name}{SUFFIX} has no script {name}.js beside it")
        content = tomllib.loads((folder / f"{name}{SUFFIX}").read_text(encoding="utf-8"))
        yield _declared(name, {**content, "package": package}), beside


def _declared(name: str, content: dict[str, Any]) -> Overlay:
    """Return an overlay as declared, with the options that every overlay has."""
    position = content.pop("position", None)
    options = content.pop("options", {})
    if position is None and "position" not in options:
        raise ValueError(f'{name}{SUFFIX} says no position, such as position = "bottom"')
    if position is not None:
        if position not in POSITIONS:
            raise ValueError(f"{name}{SUFFIX}: position is not one of {', '.join(POSITIONS)}")
        words = (position, *(other for other in POSITIONS if other != position))
        options = {"position": WordOption(kind="word", help="place in the picture", words=words), **options}
    first = {"position": options.pop("position")} if "position" in options else {}
    return Overlay.model_validate({**content, "name": name, "options": {**first, **COMMON, **options}})


def _reason(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return str(error) if type(error) is ValueError else f"{type(error).__name__}: {error}"
