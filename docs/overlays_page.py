"""Write the page of every overlay: ``python docs/overlays_page.py docs/overlays.md``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from bundled import bundled_overlays

from downfield.broadcast.overlays.installed import (
    COMMON,
    ColorOption,
    NumberOption,
    Overlay,
    OverlayOption,
    TokenOption,
    WordOption,
)
from downfield.core.records import write_text

_HEAD: Final = """# Overlays

Each is a browser source for OBS at `/overlay/` and its name, made for the size that it says. The start page gives each
address to copy, with its options and a preview; [Stream it](stream.md) says how they are used.

Options follow `?` in the address, joined by `&`: `/overlay/scorebug?position=top&scale=1.2&theme=light`. What is
misspelled or out of range is reported on the overlay itself. The first value is the default. [A package of your
own](extend.md#add-an-overlay) can add an overlay.

All overlays have:

"""


def page() -> Iterator[str]:
    """Yield the parts of the page."""
    yield _HEAD
    yield from _table(COMMON.items())
    for overlay in bundled_overlays().values():
        yield from _section(overlay)


def _section(overlay: Overlay) -> Iterator[str]:
    yield f"\n## {overlay.title}\n\n"
    yield f"`/overlay/{overlay.name}`, {overlay.width} × {overlay.height}: {overlay.about} It follows "
    topics = [f"`{topic}`" for topic in overlay.topics]
    yield f"the topic {topics[0]}.\n\n" if len(topics) == 1 else f"the topics {', '.join(topics)}.\n\n"
    yield from _table(item for item in overlay.options.items() if item[0] not in COMMON)


def _table(options: Iterable[tuple[str, OverlayOption]]) -> Iterator[str]:
    yield "| option | values | |\n|---|---|---|\n"
    for name, option in options:
        yield f"| `{name}` | {_values(option)} | {option.help[:1].upper()}{option.help[1:]} |\n"


def _values(option: OverlayOption) -> str:
    match option:
        case WordOption():
            return ", ".join(f"`{word}`" for word in option.words)
        case NumberOption():
            return f"{option.default:g}; from {option.low:g} to {option.high:g}"
        case ColorOption():
            return f"{', '.join(f'`{word}`' for word in option.words)}, or a color such as `00b140`"
        case TokenOption():
            return "a token"


if __name__ == "__main__":
    write_text(Path(sys.argv[1]), page())
