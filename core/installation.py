"""How this copy of Downfield was installed, and the command that adds an extra to it.

Each installer leaves a note: `direct_url.json` beside the package (PEP 610) says from where, `uv-receipt.toml` and
`pipx_metadata.json` in the environment which tool made it and which extras were chosen.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tomllib
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit
from urllib.request import url2pathname

from downfield.core.platform.system import SYSTEM, System

Installer = Literal["pip", "pipx", "uv tool", "uv pip"]

_NAME = "downfield"


@dataclass(frozen=True, slots=True)
class Installation:
    """How this copy was installed."""

    installer: Installer
    python: str
    source: Path | None = None  # the wheel or folder it came from; None for an index
    editable: bool = False  # whether it runs from the folder itself
    extras: tuple[str, ...] = ()  # chosen at the installation, where the installer notes it

    def command_adding(self, extra: str, system: System = SYSTEM) -> str:
        """Return the command that adds an extra, and keeps those that were chosen before."""
        extras = ",".join(sorted({*self.extras, extra}))
        wanted = f"{_NAME if self.source is None else self.source}[{extras}]"
        words = {
            "uv tool": ["uv", "tool", "install", "--force", "--python", f"{sys.version_info[0]}.{sys.version_info[1]}"],
            "uv pip": ["uv", "pip", "install", "--python", self.python],
            "pipx": ["pipx", "install", "--force"],
            "pip": [self.python, "-m", "pip", "install"],
        }[self.installer]
        words += ["-e", wanted] if self.editable else [wanted]
        return subprocess.list2cmdline(words) if system == "windows" else shlex.join(words)


def this_installation(environment: Path | None = None, note: str | None = None) -> Installation:
    """Return how this copy was installed, by the folder of its environment and the content of `direct_url.json`."""
    folder = Path(sys.prefix) if environment is None else environment
    installer, extras = _chosen(folder)
    source, editable = _source(_installed_note() if note is None else note)
    return Installation(installer, sys.executable, source, editable, extras)


def _chosen(folder: Path) -> tuple[Installer, tuple[str, ...]]:
    """Return what made an environment, and the extras requested of it."""
    with suppress(OSError, ValueError, LookupError, TypeError):
        receipt = tomllib.loads((folder / "uv-receipt.toml").read_text(encoding="utf-8"))
        chosen, *_ = (each for each in receipt["tool"]["requirements"] if each["name"] == _NAME)
        return "uv tool", tuple(chosen.get("extras", ()))
    with suppress(OSError, ValueError, LookupError, TypeError):
        metadata = json.loads((folder / "pipx_metadata.json").read_text(encoding="utf-8"))
        named = re.search(r"\[([\w,\s-]+)\]$", metadata["main_package"]["package_or_url"])
        return "pipx", tuple(re.findall(r"[\w-]+", named[1])) if named else ()
    return "pip" if find_spec("pip") is not None else "uv pip", ()


def _installed_note() -> str:
    try:
        return distribution(_NAME).read_text("direct_url.json") or ""
    except PackageNotFoundError:
        return ""


def _source(note: str) -> tuple[Path | None, bool]:
    """Return the file or folder that a package came from, and whether it runs from there; None for an index."""
    with suppress(ValueError, LookupError, TypeError, AttributeError):
        content = json.loads(note)
        url = urlsplit(content["url"])
        if url.scheme == "file":
            return Path(url2pathname(url.path)), bool(content.get("dir_info", {}).get("editable", False))
    return None, False
