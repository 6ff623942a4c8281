"""Reads the options of programs as the documents show them; run as a program, it says of each what is wrong.

In a process of its own: what these programs import and set on the way is meant for them alone. Lines come as JSON on
standard input, and go out with their faults, empty where there is none.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any, Never

ROOT = Path(__file__).parents[1]


class _UnderstoodError(Exception):
    """A program read its options."""


def faults_of(lines: Sequence[str]) -> dict[str, str]:
    """Return what is wrong with each of these lines, such as ``python benchmarks/kill.py --kills 6``."""
    done = subprocess.run(
        [sys.executable, __file__], input=json.dumps(lines), capture_output=True, text=True, check=True, cwd=ROOT
    )
    faults: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return faults


def fault_of(line: str) -> str:
    """Return what is wrong with a line, in this process."""
    words = [word for word in shlex.split(line) if not re.fullmatch(r"[A-Z_]+=\S*", word)][1:]
    path = ROOT / words[0]
    if not path.is_file():
        return f"there is no {words[0]}"
    text = path.read_text()
    if "argparse" not in text:
        given = [word for word in words[1:] if re.fullmatch(r"-*[a-z]+", word)]
        return "".join(f"{words[0]} knows no {word} " for word in given if not re.search(rf"\b{word}\b", text))
    return _refusal(path, ["1" if word == "N" else word for word in words[1:] if word != "..."])


def _refusal(path: Path, words: list[str]) -> str:
    """Return what a program's own parser says of its options, empty when it would start."""
    real = argparse.ArgumentParser.parse_args

    def understand(parser: argparse.ArgumentParser, *_: object) -> Never:
        real(parser, words)
        raise _UnderstoodError

    argparse.ArgumentParser.parse_args = understand  # type: ignore[assignment]
    output = StringIO()
    try:
        with redirect_stderr(output):
            _loaded(path).main()
    except _UnderstoodError:
        return ""
    except SystemExit:
        return output.getvalue()
    finally:
        argparse.ArgumentParser.parse_args = real  # type: ignore[method-assign]
    return "it reads no options"


def _loaded(path: Path) -> Any:
    """Return a program as a module, under a name of its own."""
    spec = importlib.util.spec_from_file_location(f"shown_{path.parent.name}_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    sys.path[:0] = [str(ROOT / folder) for folder in ("tests", "benchmarks", "docs")]
    found = {line: fault_of(line) for line in json.loads(sys.stdin.read())}
    sys.stdout.write(f"\n{json.dumps(found)}\n")
