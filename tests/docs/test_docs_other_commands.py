"""The documents' commands beside `downfield`: each is of a kind that is checked here, or listed with the reason.

Programs of this repository are loaded and read their options as shown; targets of `make`, extras and files exist.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest
from documented_commands import PAGES, ROOT, shown_commands, typed_lines
from documented_programs import faults_of

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
WHEEL = f"downfield-{PROJECT['version']}-py3-none-any.whl"
PYTHON = r"((\.venv|\.venv-train)/bin/)?python3?"
KINDS = {
    "downfield": r"((\.venv|rig)/bin/)?downfield\b",
    "program": rf"([A-Z_]+=\S+ )*{PYTHON} (benchmarks|docs)/\w+\.py\b",
    "module": rf"{PYTHON} -m downfield\b",
    "tests": rf"{PYTHON} -m pytest tests/",
    "make": r"make [a-z]",
    "install": r"(\S*/bin/)?(pip|pipx|uv tool) install\b",
    "elsewhere": r"($)",
}
ELSEWHERE = {
    "git clone": "needs the fork that the reader made",
    "python3 -m venv": "Python's own",
    "python3 -m http.server": "Python's own",
    "sudo apt install": "changes the computer",
    "sudo -u postgres": "changes the computer; tests/postgres_server.py makes the same by the same programs",
    "sudo systemctl": "changes the computer",
    "podman": "needs podman; tests/test_containerfile.py checks what it is told",
    "curl": "tests/api/test_api_service.py sends it",
    "cd ": "the shell's own",
    ".venv/bin/pre-commit": "another program's own",
    "source .venv": "the shell's own",
    "git pull": "needs a server",
    "uv tool uninstall": "uv's own",
    "pipx uninstall": "pipx's own",
}
"""What is not run here, and why."""
INLINE = re.compile(
    rf"({PYTHON} |[A-Z_]+=\S+ python|make [a-z]|(pip|pipx|uv tool) (un)?install|git pull|source \.venv)"
)


def other_commands() -> dict[str, str]:
    """Return the commands that the documents show, but Downfield's, each with its page."""
    found: dict[str, str] = {}
    for page in PAGES:
        if page.name == "CHANGELOG.md":
            continue
        typed = set(typed_lines(page))
        for shown in shown_commands(page):
            line = " ".join(shown.split(" # ")[0].split())
            if (line in typed and not drawn(page, line)) or INLINE.match(line):
                found.update((part, page.name) for part in line.split(" && ") if kind(part) != "downfield")
    return found


def drawn(page: Path, line: str) -> bool:
    """Return whether a line is of a picture drawn with letters: of a block without a language."""
    blocks = re.findall(r"^```\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    return any(line == " ".join(one.split()) for block in blocks for one in block.splitlines())


def kind(line: str) -> str:
    """Return which kind of command a line is; empty for none that is known."""
    if not line or any(line.startswith(begin) for begin in ELSEWHERE):
        return "elsewhere"
    return next((name for name, pattern in KINDS.items() if re.match(pattern, line)), "")


COMMANDS = sorted(other_commands().items())


def of_kind(name: str) -> list[str]:
    return [line for line, _ in COMMANDS if kind(line) == name]


def test_every_command_is_checked_or_listed_with_the_reason() -> None:
    assert len(COMMANDS) > 50, "the documents' commands are not found any more"
    unknown = {page: line for line, page in COMMANDS if not kind(line)}
    assert unknown == {}, "neither checked here nor listed in ELSEWHERE"


def test_what_is_listed_with_a_reason_is_still_shown() -> None:
    shown = [line for line, _ in COMMANDS]
    assert [begin for begin in ELSEWHERE if not any(line.startswith(begin) for line in shown)] == []


WRONG = ["python benchmarks/kill.py --murders 6", "python benchmarks/prints.py wrinkled 6", "python docs/none.py"]


@pytest.fixture(scope="module")
def faults() -> dict[str, str]:
    return faults_of([*of_kind("program"), *WRONG])


@pytest.mark.parametrize("line", of_kind("program"))
def test_a_program_reads_the_options_that_are_shown(line: str, faults: dict[str, str]) -> None:
    assert faults[line] == ""


@pytest.mark.parametrize("line", WRONG)
def test_a_program_that_is_shown_with_a_wrong_option_is_found(line: str, faults: dict[str, str]) -> None:
    assert faults[line] != ""


@pytest.mark.parametrize("line", of_kind("module"))
def test_a_module_that_is_run_exists(line: str) -> None:
    name = line.split(" -m ")[1].split()[0]
    folder = ROOT.joinpath(*name.split(".")[1:])
    assert folder.with_suffix(".py").is_file() or name == "downfield", line


@pytest.mark.parametrize("line", of_kind("tests"))
def test_a_module_of_tests_exists(line: str) -> None:
    assert (ROOT / line.split()[3]).is_file(), line


@pytest.mark.parametrize("line", of_kind("make"))
def test_a_target_exists(line: str) -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert set(line.split()[1:]) <= set(targets), line


@pytest.mark.parametrize("line", of_kind("install"))
def test_what_is_installed_exists(line: str) -> None:
    for word in shlex.split(line)[1:]:
        for extras in re.findall(r"^(?:\.|.*downfield\S*?)\[(.*)\]$", word):
            assert set(extras.split(",")) <= set(PROJECT["optional-dependencies"]), line
        if word.endswith(".whl"):
            assert Path(word).name in {WHEEL, "downfield-VERSION-py3-none-any.whl"}, line
        if word.startswith("./.") or word.endswith(".lock"):
            assert (ROOT / word).exists(), line


def test_every_extra_is_in_the_table_of_the_install_page() -> None:
    table = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "install.md").read_text(), re.MULTILINE)
    extras = set(PROJECT["optional-dependencies"]) - {"dev"}
    assert extras <= set(table), "these are for users, and the install page does not name them"


def test_what_is_said_of_a_container_is_in_its_recipe() -> None:
    recipe = (ROOT / "Containerfile").read_text()
    (run,) = [line for line in of_kind("elsewhere") if line.startswith("podman run")]
    words = shlex.split(run)
    port, volume = words[words.index("-p") + 1], words[words.index("-v") + 1]
    assert re.search(rf"^EXPOSE .*\b{port.split(':')[1]}\b", recipe, re.MULTILINE)
    assert re.search(rf"^VOLUME {volume.split(':')[1]}$", recipe, re.MULTILINE)
    assert Path(words[words.index("--device") + 1]).name.startswith("video"), run
    assert "--groups video" in recipe
