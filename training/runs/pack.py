"""Packs what a computer needs to train the two networks without a network, and without Downfield's other packages.

What is needed is what the training imports: its modules are listed by importing it in a process of its own. Besides,
there are checkpoints to continue from, lettering drawn beforehand (older OpenCV lacks the fonts), the few small wheels
that computers with torch, numba and OpenCV lack, and one script that runs it all.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from downfield.core.errors import InputError, OutputError
from downfield.training.export.networks import figure_refiner_of
from downfield.training.networks.checkpoints import FIGURE_REFINER_NAME, write_checkpoint
from downfield.twin.table.lettering import GLYPHS_VARIABLE, write_glyphs

MODULES: Final = ("downfield.training.runs.pair_run", "downfield.twin.tracing.tracer")
WHEELS: Final = ("pydantic",)
"""Packages fetched with their dependencies."""

_LIST: Final = (
    "import importlib, json, sys;"
    "[importlib.import_module(name) for name in sys.argv[1:]];"
    "found = {n: m.__file__ for n, m in sys.modules.items() if n.startswith('downfield.') and m.__file__};"
    "json.dump(found, sys.stdout)"
)
_SCRIPT: Final = f"""#!/bin/sh
# Trains the two networks here: ./train.sh OUT SECONDS [--resume FOLDER] [--seed N] [--level SHARE] [--device cpu]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
python=${{PYTHON:-python3}}
site=${{TMPDIR:-/tmp}}/downfield-site
if [ -d "$here/wheels" ]; then
    "$python" -m pip install --quiet --no-index --no-deps --upgrade --target "$site" "$here"/wheels/*.whl
    PYTHONPATH=$site${{PYTHONPATH:+:$PYTHONPATH}}
fi
export PYTHONPATH="$here${{PYTHONPATH:+:$PYTHONPATH}}" PYTHONUNBUFFERED=1 OMP_NUM_THREADS="${{OMP_NUM_THREADS:-2}}"
export {GLYPHS_VARIABLE}="$here/glyphs.npz"
exec "$python" -m downfield.training.runs.pair_run "$@"
"""

Report = Callable[[str], None]


def pack(
    out: Path,
    checkpoints: Path | None,
    python: str | None,
    report: Report = lambda _line: None,
    *,
    network: Path | None = None,
) -> None:
    """Fill a folder, a few megabytes in all.

    Args:
        out: the folder; must not exist, or be empty.
        checkpoints: folder of `detector.pt` and `refiner.pt` to continue from; None for none.
        python: version of that computer's Python, such as 3.12, for which wheels are fetched; None for no wheels.
        network: folder of a network whose figure refiner is trained as well; None for none.

    Raises:
        InputError: the folder holds something, the checkpoints are not there, or the network has no such refiner.
        OutputError: the folder can't be written, or the wheels can't be downloaded.
    """
    if out.exists() and any(out.iterdir()):
        raise InputError(f"{out}: holds something already. Name a new folder.")
    found = [] if checkpoints is None else [checkpoints / f"{name}.pt" for name in ("detector", "refiner")]
    for path in found:
        if not path.is_file():
            raise InputError(f"{path}: no such file")
    refiner = None if network is None else figure_refiner_of(network)
    try:
        _write_package(out)
        write_glyphs(out / "glyphs.npz")
        (out / "checkpoints").mkdir()
        for path in found:
            shutil.copy(path, out / "checkpoints")
        if refiner is not None:
            kept = {"average": refiner.state_dict(), "steps": 0}
            write_checkpoint(out / "checkpoints" / f"{FIGURE_REFINER_NAME}.pt", kept)
        script = out / "train.sh"
        script.write_text(_SCRIPT, encoding="utf-8")
        script.chmod(0o755)
    except OSError as error:
        raise OutputError(f"{out}: can't be written: {error.strerror}") from None
    if python is not None:
        _fetch_wheels(out / "wheels", python)
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    report(f"packed: {out}, {size / 1e6:.1f} MB")


def _write_package(out: Path) -> None:
    """Copy the modules that training imports, and the data files beside them."""
    command = [sys.executable, "-c", _LIST, *MODULES]
    listed = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own code
    if listed.returncode:
        raise InputError(f"The training can't be imported here: {listed.stderr.strip().splitlines()[-1]}")
    target = out / "downfield"
    target.mkdir(parents=True, exist_ok=True)
    (target / "__init__.py").write_text('"""What training the two networks needs of Downfield."""\n', encoding="utf-8")
    for name, file in json.loads(listed.stdout.splitlines()[-1]).items():
        path, parts = Path(file), name.split(".")[1:]
        folder = target.joinpath(*(parts if path.name == "__init__.py" else parts[:-1]))
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, folder)
        for data in path.parent.rglob("*.toml") if path.name == "__init__.py" else ():
            (folder / data.relative_to(path.parent)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(data, folder / data.relative_to(path.parent))


def _fetch_wheels(folder: Path, python: str) -> None:
    platforms = [f"--platform=manylinux{tag}_x86_64" for tag in ("_2_17", "2014")]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary=:all:", "--dest", str(folder)]
    done = subprocess.run(  # noqa: S603 - no shell; the version is one word
        [*command, f"--python-version={python}", "--implementation=cp", *platforms, *WHEELS],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["pip gave no reason"])[-1]
        raise OutputError(f"{folder}: the wheels can't be fetched: {reason}")
