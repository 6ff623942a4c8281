"""Every code block of the documents is run, loaded or read as what it is, or listed with the reason why it is not.

Shell lines: test_docs_commands_run.py and test_docs_other_commands.py. Python, TOML and JSON: here, where no other
test does more with a page.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
import textwrap
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from documented_commands import FENCE, PAGES, ROOT

from downfield.calibration.field.fiducials import read_fiducials
from downfield.core.field.model import load_field
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.rig.configuration.loading import load

BLOCKS = [
    (f"{page.name}-{number}", language, textwrap.dedent(text))
    for page in PAGES
    if page.name != "CHANGELOG.md"
    for number, (language, text) in enumerate(FENCE.findall(page.read_text(encoding="utf-8")))
]
SHELL = {"sh", "console"}
HERE = {"python", "toml", "json"}
ELSEWHERE = {
    "": "pictures drawn with letters",
    "diff": "tests/docs/test_docs_extend.py applies it",
    "html": "tests/docs/test_docs_extend.py writes it",
    "js": "tests/docs/test_docs_extend.py writes it",
    "text": "tests/docs/test_docs_extend.py compares it",
    "nginx": "another program's own",
    "yaml": "another program's own",
}
"""Languages that are not read here, and why."""
OF_EXTEND = "extend.md"  # whole packages: tests/docs/test_docs_extend.py writes and installs them
GIVEN = {"obs.md": "import hashlib, hmac\nsigning_key, timestamp, body, signature = b'key', '1', b'{}', 'sha256=0'\n"}
"""What a page's text says the reader has when an example begins."""


def of(language: str, *, with_name: bool = True) -> list[object]:
    """Return the blocks of a language as parameters of a test."""
    return [
        pytest.param(*((name, text) if with_name else (text,)), id=name)
        for name, found, text in BLOCKS
        if found == language and not name.startswith(OF_EXTEND)
    ]


def test_every_language_is_read_or_listed_with_the_reason() -> None:
    found = {language for _, language, _ in BLOCKS}
    assert found == SHELL | HERE | set(ELSEWHERE)


def faults_of(example: str) -> list[str]:
    """Return what is wrong with a Python example: an import that fails, a call that does not fit."""
    tree = ast.parse(example)
    imports = ast.Module([node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)], [])
    faults, known = [], dict[str, object]()
    for node in imports.body:
        if isinstance(node, ast.ImportFrom):
            module = importlib.import_module(str(node.module))
            faults += [f"no {alias.name} in {node.module}" for alias in node.names if not hasattr(module, alias.name)]
            known |= {alias.asname or alias.name: getattr(module, alias.name, None) for alias in node.names}
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and callable(known.get(call.func.id)):
            plain = not any(isinstance(word, ast.Starred) for word in call.args) and all(k.arg for k in call.keywords)
            try:
                signature = inspect.signature(known[call.func.id])  # type: ignore[arg-type]
                if plain:
                    signature.bind(*call.args, **{str(k.arg): k.value for k in call.keywords})
            except TypeError as error:
                faults.append(f"{call.func.id}: {error}")
    return faults


@pytest.mark.parametrize(("name", "text"), of("python"))
def test_python_is_python_and_its_imports_and_calls_fit_the_code(name: str, text: str) -> None:
    text = GIVEN.get(name.rpartition("-")[0], "") + text
    if name.startswith("library.md") and re.match(r"(class )?\w+\(.*\)( -> .*)?$", text.strip(), re.DOTALL):
        return  # a signature, as `make docs` writes it
    assert faults_of(text) == []
    if name.startswith("obs.md"):
        exec(compile(text, name, "exec"), {})


@pytest.mark.parametrize(
    "wrong",
    [
        "from downfield.core.field.model import no_such_field",
        "from downfield.core.field.model import preset\npreset('ultimate', size=3)",
        "from downfield.core.field.model import preset\npreset()",
    ],
)
def test_an_example_that_does_not_fit_the_code_is_found(wrong: str) -> None:
    assert faults_of(wrong)


def loader(table: dict[str, object]) -> Callable[[Path], object]:
    """Return what reads a TOML file with these keys."""
    if "markers" in table:
        return read_fiducials
    if "mm_per_yd_x" in table:
        return lambda path: load_field(str(path))
    if "base" in table or "challenge" in table:
        return lambda path: load_rulebook(str(path))
    return load


@pytest.mark.parametrize("text", of("toml", with_name=False))
def test_a_toml_file_is_one_that_downfield_loads(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path, table = tmp_path / "shown.toml", tomllib.loads(text)
    if "challenge" in table:  # a part of a league's file
        text = f'name = "league"\nbase = "tap"\n{text}'
    path.write_text(text, encoding="utf-8")
    loader(table)(path)


@pytest.mark.parametrize("text", of("json", with_name=False))
def test_json_is_json_with_keys_that_the_code_writes(text: str) -> None:
    shown = json.loads(text.replace("{...}", "{}"))
    folder = ROOT / ("rig/tournament" if "format" in shown else "game/published")
    sources = " ".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py"))
    assert [key for key in shown if not re.search(rf"\b{key}\b", sources)] == []
