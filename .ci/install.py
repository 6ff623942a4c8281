"""Installs packages where it runs, as `pip install` does: by uv, which takes a tenth of pip's time, otherwise by pip.

uv is pointed to where pip is configured to look for packages, which it would not know by itself.

Usage: python install.py ARGUMENTS-OF-PIP-INSTALL
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

PIP: Final = (sys.executable, "-m", "pip")

# Settings of pip, the variables of uv that say the same, and what stands between several of a variable's values.
SAME: Final = {
    "index-url": ("UV_DEFAULT_INDEX", " "),
    "extra-index-url": ("UV_INDEX", " "),
    "find-links": ("UV_FIND_LINKS", ","),
    "constraint": ("UV_CONSTRAINT", " "),
    "cert": ("SSL_CERT_FILE", " "),
}
UNKNOWN: Final = frozenset({"no-index", "client-cert", "proxy", "trusted-host", "no-binary", "only-binary", "pre"})
"""Settings of pip after which pip alone installs."""


def run(*command: str) -> bool:
    """Return whether a command succeeds."""
    return not subprocess.run(command, check=False).returncode  # noqa: S603 - pip and uv


def configured() -> dict[str, str]:
    """Return the settings of pip by their names; those of the environment come last and count."""
    listed = subprocess.run([*PIP, "config", "list"], capture_output=True, text=True, check=True)  # noqa: S603 - pip
    pairs = (line.partition("=") for line in listed.stdout.splitlines())
    return {key.rpartition(".")[2].lower(): str(ast.literal_eval(value)) for key, _, value in pairs if value}


def by_uv(arguments: list[str]) -> bool:
    """Return whether uv could be had and installed everything."""
    settings = configured()
    # A registry that does not answer is tried again soon: 20 s, whatever pip waits elsewhere.
    if UNKNOWN & settings.keys() or not run(*PIP, "install", "--quiet", "--timeout", "20", "uv>=0.9"):
        return False
    # As pip does, the newest version of all indexes is taken, and not that of the first one that has the package.
    os.environ.setdefault("UV_INDEX_STRATEGY", "unsafe-best-match")
    for name, (variable, separator) in SAME.items():
        if name in settings:
            os.environ.setdefault(variable, separator.join(settings[name].split()))
    uv = str(Path(sys.executable).with_name("uv"))
    return run(uv, "pip", "install", "--quiet", "--python", sys.executable, *arguments)


def main() -> None:
    """Install."""
    arguments = sys.argv[1:]
    sys.exit(not (by_uv(arguments) or run(*PIP, "install", "--quiet", "--no-compile", *arguments)))


if __name__ == "__main__":
    main()
