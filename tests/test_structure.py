"""The house stays in order: one meaning per class name, no module too long, a docstring that opens with a sentence."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from posix_names import is_linux_only, linux_only
from structure import ROOMS

ROOT = Path(__file__).parents[1]
MODULES = [path for folder in ROOMS for path in sorted((ROOT / folder).rglob("*.py"))]
LONGEST = 400


def test_a_public_class_name_has_one_meaning() -> None:
    found: dict[str, list[str]] = {}
    for path in MODULES:
        for name in re.findall(r"^class ([^\W_]\w*)", path.read_text(encoding="utf-8"), re.MULTILINE):
            found.setdefault(name, []).append(str(path.relative_to(ROOT)))
    assert {name: paths for name, paths in found.items() if len(paths) > 1} == {}


def test_no_module_is_too_long_to_read() -> None:
    lines = {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert {name: count for name, count in lines.items() if count > LONGEST} == {}


def test_one_person_can_still_know_the_whole() -> None:
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES)
    assert len(MODULES) < 700, "what comes in makes something else go"
    assert lines < 121_000, "what comes in makes something else go"


@pytest.mark.parametrize("folder", ROOMS)
def test_every_package_says_what_is_in_it(folder: str) -> None:
    for init in (ROOT / folder).rglob("__init__.py"):
        assert ast.get_docstring(ast.parse(init.read_text(encoding="utf-8"))), init.relative_to(ROOT)


STARTS_THREADS = {"Thread", "Timer", "start_new_thread"}
THREADS = ROOT / "core" / "threads.py"


def _started_threads(source: str) -> list[int]:
    """Return the lines on which a thread is made by hand, however the module was imported."""
    if not any(name in source for name in STARTS_THREADS):
        return []
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and (node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")) in STARTS_THREADS
    ]


def test_no_thread_is_started_without_a_supervisor() -> None:
    found = {
        str(path.relative_to(ROOT)): _started_threads(path.read_text(encoding="utf-8"))
        for path in MODULES
        if path != THREADS
    }
    assert {path: lines for path, lines in found.items() if lines} == {}, "use core/threads.py"


def test_a_thread_made_by_hand_is_found_however_it_is_imported() -> None:
    made = ["threading.Thread(target=f)", "Thread(target=f)", "Timer(1, f).start()", "_thread.start_new_thread(f, ())"]
    assert [_started_threads(line) for line in made] == [[1]] * 4
    assert _started_threads("ThreadPoolExecutor(1)\nthread: threading.Thread = supervised_thread(f)") == []


SEAM = ROOT / "core" / "platform"
LINUX_ALONE = {
    "api/feed/relay.py": {"socket.send_fds", "socket.recv_fds"},  # where `CAN_PASS_DESCRIPTORS`
    "core/media/shared_picture.py": {"os.memfd_create"},  # behind `hasattr`; elsewhere a temporary file
    "capture/sources/v4l2.py": {"fcntl", "os.O_NONBLOCK"},  # opened for Linux's cameras alone
    "rig/upkeep/checks.py": {"os.sysconf"},  # where there is none, the memory is "unknown"
    "rig/upkeep/systemd.py": {"socket.AF_UNIX"},  # reached only where systemd names a socket
}
"""Modules that need something of Linux and are not reached without it, with what that is."""


def _linux_only(source: str) -> set[str]:
    """Return what a source takes from Python's library that Windows or macOS does not have; `getattr` is no need."""
    words, lines = set(re.findall(r"\w+", source)), re.findall(r"^.*\bimport\b.*$", source, re.MULTILINE)
    imported = set(re.findall(r"[\w.]+", " ".join(lines)))
    if not any(is_linux_only(module) or words & linux_only(module) for module in imported):
        return set()  # the others, nearly all, need not be parsed
    tree, found, modules = ast.parse(source), set[str](), dict[str, str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.asname or alias.name: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {f"{node.module}.{alias.name}" for alias in node.names if alias.name in linux_only(node.module)}
            found |= {node.module} if is_linux_only(node.module) else set()
    found |= {name for name in modules.values() if is_linux_only(name)}
    names = {name for module in modules.values() for name in linux_only(module)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in names:
            module = modules.get(ast.unparse(node.value), "")
            if module and not is_linux_only(module) and node.attr in linux_only(module):
                found.add(f"{module}.{node.attr}")
    return found


def test_only_the_seam_needs_what_windows_or_macos_does_not_have() -> None:
    found = {
        path.relative_to(ROOT).as_posix(): needs
        for path in MODULES
        if SEAM not in path.parents and (needs := _linux_only(path.read_text(encoding="utf-8")))
    }
    assert found == LINUX_ALONE, "use core/platform"


def test_what_only_linux_has_is_found_however_it_is_taken() -> None:
    assert _linux_only("import fcntl") == _linux_only("from fcntl import flock") - {"fcntl.flock"} == {"fcntl"}
    assert _linux_only("import os as system\nsystem.fork()") == {"os.fork"}
    assert _linux_only("from signal import SIGHUP") == {"signal.SIGHUP"}
    assert _linux_only("import os\nos.sched_getaffinity(0)") == {"os.sched_getaffinity"}
    assert _linux_only("import socket\nsocket.AF_UNIX") == {"socket.AF_UNIX"}
    assert _linux_only("import resource, pwd, termios") == {"resource", "pwd", "termios"}
    assert _linux_only("import os, signal\nos.getpid(); signal.SIGINT; getattr(os, 'fork', None)") == set()


def _texts_of_no_encoding(source: str) -> list[int]:
    """Return the lines that read or write text in the encoding of the computer, which is not UTF-8 on Windows."""
    lines: list[int] = []
    if not any(name in source for name in ("open", "read_text", "write_text")):
        return lines
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or any(keyword.arg == "encoding" for keyword in node.keywords):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        alone = isinstance(node.func, ast.Name)
        if isinstance(node.func, ast.Attribute) and (
            (name == "read_text" and not node.args) or (name == "write_text" and len(node.args) == 1)
        ):
            lines.append(node.lineno)
        elif (name == "open" and alone) or name == "fdopen":
            mode = next((k.value for k in node.keywords if k.arg == "mode"), None) or next(iter(node.args[1:2]), None)
            if not (isinstance(mode, ast.Constant) and "b" in str(mode.value)):
                lines.append(node.lineno)
    return lines


def test_text_is_read_and_written_in_an_encoding_that_no_computer_changes() -> None:
    found = {str(path.relative_to(ROOT)): _texts_of_no_encoding(path.read_text(encoding="utf-8")) for path in MODULES}
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_a_text_without_an_encoding_is_found() -> None:
    bad = ["open('a')", "open('a', 'w')", "os.fdopen(1, 'w')", "path.read_text()", "path.write_text(text)"]
    assert [_texts_of_no_encoding(line) for line in bad] == [[1]] * 5
    good = ["open('a', 'rb')", "open('a', mode='wb')", "path.read_text('utf-8')", "path.write_text(text, encoding='x')"]
    assert [_texts_of_no_encoding(line) for line in good] == [[]] * 4
