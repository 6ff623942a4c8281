"""The commands that the documents show, and the program's own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import typer

from downfield.cli.main import app, load_command

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
FENCE = re.compile(r"^ *```(\w*)[^\n]*\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
"""A code block, in a list or with a title too: its language, and its text."""
_INLINE = re.compile(r"`([^`\n]+)`")


def shown_commands(page: Path) -> Iterator[str]:
    """Yield the commands of a page: lines of shell blocks, and code within text."""
    text = page.read_text()
    yield from (line.split("  #")[0].strip().removeprefix(".venv/bin/") for line in block_lines(text))
    yield from (code.removeprefix(".venv/bin/") for code in _INLINE.findall(FENCE.sub("", text)))


def block_lines(text: str) -> Iterator[str]:
    """Yield the lines of a page's shell blocks; of a transcript, those that are typed."""
    for language, block in FENCE.findall(text):
        lines = block.replace("\\\n", " ").splitlines()
        if language in {"sh", "bash", ""}:
            yield from lines
        elif language == "console":
            yield from (line.removeprefix("$ ") for line in lines if line.startswith("$ "))


def typed_lines(page: Path) -> list[str]:
    """Return the lines of a page's shell blocks, without comments."""
    lines = (line.split("  #")[0] for line in block_lines(page.read_text()))
    return [" ".join(line.replace("…", "").split()) for line in lines]


@cache
def command_tree() -> Any:
    return typer.main.get_command(app)


def find(words: list[str]) -> tuple[Any, list[str]]:
    """Return the command that words begin with, and the words after its name."""
    command, rest = command_tree(), words
    while hasattr(command, "get_command") and rest and not rest[0].startswith("-"):
        listed = command.get_command(None, rest[0])
        inner = load_command(rest[0]) if listed is not None and command is command_tree() else listed
        assert inner is not None, f"there is no `downfield {' '.join(words[: len(words) - len(rest) + 1])}`"
        command, rest = inner, rest[1:]
    return command, rest
