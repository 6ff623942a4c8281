"""docs/extend.md: what is made of exactly the files on the page is found, listed and used as the page says."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest
from browsers import PageServer, browser, page_in
from playwright.sync_api import expect
from structure import ROOMS

from downfield.api.routes import pages
from downfield.broadcast.overlays import installed
from downfield.game.published.stream_topics import OnAirView

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "extend.md"
RULEBOOK, CALL, SOURCE = "Add a rulebook", "Add a call", "Add a camera source"
OVERLAY, ADDED_PAGE = "Add an overlay", "Add a page"
SYSTEM = (
    "from downfield.officiating.clauses import Clause\n"
    "from downfield.officiating.rules.lines import OutOfBounds\n"
    "from downfield.officiating.state.interfaces import RuleSystem\n"
    "RIVER_CITY = RuleSystem(name='river-city', title='River City rules', "
)
CLAUSE = "catalog={'RC-9': Clause('measured', 'A runner far behind the line is down.', "
LOAD = """
import sys
from downfield.officiating.rulebooks.installed import load_systems
for folder in sys.argv[1:]:
    sys.path.insert(0, folder)
    systems, problems = load_systems()
    print([system.name for system in systems], *problems, sep="\\n")
    sys.path.remove(folder)
    sys.modules.pop("river_city", None)
"""
"""Lists the rulebooks that there are with the package of one folder, then with that of the next."""

BROKEN = (
    ("import nothing_of_that_name", "ModuleNotFoundError: No module named 'nothing_of_that_name'"),
    ("RIVER_CITY = 1", "river_city:RIVER_CITY is not a RuleSystem"),
    ("from downfield.officiating.rulebooks.tap.system import TAP as RIVER_CITY", "its RuleSystem is named 'tap'"),
    (
        f"{SYSTEM}handlers={{}}, rules=(), consequences={{'tackel': str}})",
        "its consequences name 'tackel', which is no kind of call",
    ),
    (
        f"{SYSTEM}handlers={{}}, rules=(OutOfBounds(('RC-9',), ()),), consequences={{}})",
        "its rule 'out_of_bounds' cites RC-9, which its catalog lacks",
    ),
    (
        f"{SYSTEM}handlers={{}}, rules=(), consequences={{}}, {CLAUSE}by='river_city.Retreet')}})",
        "its clause RC-9 is by river_city.Retreet, which is not there",
    ),
    (
        f"{SYSTEM}handlers={{}}, rules=(), consequences={{}}, {CLAUSE}params=('retreat.limit',))}})",
        "its clause RC-9 names the parameter 'retreat.limit', which it lacks",
    ),
)
"""What a package may be instead, and why it can't be loaded."""


def blocks(section: str) -> list[tuple[str, str, str]]:
    """Language, title and text of a section's code blocks, in order."""
    text = PAGE.read_text().partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    return re.findall(r'^```(\w+) title="(.+?)"\n(.*?)^```$', text, re.MULTILINE | re.DOTALL)


def write(folder: Path, section: str) -> None:
    """Write a section's files, and change those that it changes."""
    for language, title, text in blocks(section):
        path = folder / title
        if language == "diff":
            old = path.read_text()
            for hunk in text.split("@@\n"):
                lines = hunk.splitlines(keepends=True)
                before, after = ("".join(line[1:] for line in lines if line[0] in kept) for kept in (" -", " +"))
                if after in old:  # by a reader who follows the page in this very tree
                    continue
                assert before in old, f"{title} has no {before!r}"
                old = old.replace(before, after) if before else old + after
            path.write_text(old)
        elif "." in title:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)


def install(folder: Path) -> None:
    """Write the metadata by which an installed package is found, as pip makes it of the page's pyproject.toml."""
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    info = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    groups = project["entry-points"].items()
    lines = [f"[{group}]\n" + "".join(f"{name} = {at}\n" for name, at in names.items()) for group, names in groups]
    (info / "entry_points.txt").write_text("\n".join(lines))


def python(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": paths}
    return subprocess.run([sys.executable, *words], env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    write(tmp_path, RULEBOOK)
    install(tmp_path)
    return tmp_path


def test_a_rulebook_of_three_files_is_listed_printed_and_a_base_for_house_rules(package: Path) -> None:
    assert len([path for path in package.rglob("*") if path.is_file() and ".dist-info" not in str(path)]) == 3
    (package / "league.toml").write_text('base = "river-city"\n[policy]\ntackle = "propose"\n')
    done = python(package, "-m", "downfield", "rules", "--house", str(package / "league.toml"), "--json")
    assert done.returncode == 0, done.stderr
    assert [clause["id"] for clause in json.loads(done.stdout)["clauses"]] == ["RC-1", "RC-2", "RC-3"]
    listed = python(package, "-m", "downfield", "rules")
    assert "river-city: River City rules\n    3 clauses: 1 decided by measurement" in listed.stdout


def test_a_rule_added_as_the_page_says_makes_its_call(package: Path) -> None:
    write(package, CALL)
    ((_, _, script),) = [block for block in blocks(CALL) if block[1] == "try it"]
    ((_, _, output),) = [block for block in blocks(CALL) if block[1] == "output"]
    done = python(package, "-c", script)
    assert done.stdout == output, done.stderr
    decided = (
        "from pydoc import locate\n"
        "from downfield.officiating.rulebooks.installed import load_system\n"
        "print(*(locate(clause.by).__name__ for clause in load_system('river-city').catalog.values() if clause.by))"
    )
    assert python(package, "-c", decided).stdout == "play_next_down Tackle Retreat\n"


def test_a_broken_package_is_named_and_leaves_the_others_alone_and_none_replaces_a_rulebook(tmp_path: Path) -> None:
    packages = [tmp_path / str(number) for number in range(len(BROKEN) + 1)]
    for package in packages:
        package.mkdir()
        write(package, RULEBOOK)
        install(package)
    expected = ""
    for package, (code, reason) in zip(packages, BROKEN, strict=False):
        (package / "river_city" / "__init__.py").write_text(f"{code}\n")
        sentence = f"The rulebook 'river-city' of the package downfield-river-city can't be loaded: {reason}."
        expected += f"['efl', 'lions-den', 'nfl-strategy', 'tap']\n{sentence} Update or uninstall that package.\n"
    info = next(packages[-1].glob("*.dist-info")) / "entry_points.txt"
    info.write_text(info.read_text() + "tap = river_city:RIVER_CITY\n")
    expected += "['efl', 'lions-den', 'nfl-strategy', 'river-city', 'tap']\n"
    done = python(tmp_path, "-c", LOAD, *map(str, packages))
    assert done.stdout == expected, done.stderr


def test_a_broken_package_is_named_beside_the_list_of_rulebooks(package: Path) -> None:
    (package / "river_city" / "__init__.py").write_text("raise OSError('no disk')\n")
    listed = python(package, "-m", "downfield", "rules")
    assert listed.returncode == 0
    assert "tap: " in listed.stdout
    assert "can't be loaded: OSError: no disk. Update" in listed.stderr
    assert listed.stderr.count("\n") == 1


OPENED = """
import itertools, os, pathlib, sys, threading, time
from downfield.capture.problems import ActiveProblems
from downfield.capture.source import CaptureClock
from downfield.capture.sources.source_opening import open_source
from downfield.capture.sources.source_types import SourceChoice, is_recording
source = open_source(SourceChoice(sys.argv[1]), CaptureClock(), ActiveProblems())
picture, opened_ns, done = pathlib.Path(sys.argv[1].partition(":")[2]), time.time_ns(), threading.Event()
def write():
    for written_ns in itertools.count(opened_ns + 1_000_000_000, 1_000):
        os.utime(picture, ns=(written_ns, written_ns))
        if done.wait(0.05):
            break
threading.Thread(target=write).start()
frame = next(iter(source.frames()))
done.set()
source.close()
print(type(source).__name__, source.facts.size_px, frame.image[0, 0].tolist(), is_recording(sys.argv[1]))
print(source.facts.live, round((frame.t_ns - opened_ns) / 1e8))
"""


@pytest.fixture
def source_package(tmp_path: Path) -> Path:
    write(tmp_path, SOURCE)
    install(tmp_path)
    return tmp_path


def test_a_source_of_two_files_is_opened_by_its_scheme_and_reopened_as_any_camera(source_package: Path) -> None:
    files = [path for path in source_package.rglob("*") if path.is_file() and ".dist-info" not in str(path)]
    assert len(files) == 2
    picture = source_package / "table.png"
    cv2.imwrite(str(picture), np.full((36, 64, 3), (10, 20, 30), np.uint8))
    done = python(source_package, "-c", OPENED, f"newest:{picture}")
    assert done.stdout == "ReconnectingSource (64, 36) [10, 20, 30] False\nTrue 10\n", done.stderr


def test_a_recorded_source_is_said_to_be_so_by_its_type_alone(source_package: Path) -> None:
    module = source_package / "newest_picture.py"
    module.write_text(module.read_text().replace("SourceType(NewestPicture)", "SourceType(NewestPicture, live=False)"))
    picture = source_package / "table.png"
    cv2.imwrite(str(picture), np.full((36, 64, 3), (10, 20, 30), np.uint8))
    done = python(source_package, "-c", OPENED, f"newest:{picture}")
    assert done.stdout == "NewestPicture (64, 36) [10, 20, 30] True\nFalse 10\n", done.stderr


SET_UP = """
import sys
from downfield.capture.sources.source_types import SourceChoice
from downfield.rig.configuration.settings import RigSettings
from downfield.rig.tables.setup_session import SetupSession
session = SetupSession(RigSettings(data=sys.argv[1]), "", list, SourceChoice, print)
print(session.open_camera(sys.argv[2]).step)
session.close()
"""


def test_a_source_is_chosen_in_the_set_up_by_its_name(source_package: Path) -> None:
    picture = source_package / "table.png"
    cv2.imwrite(str(picture), np.full((36, 64, 3), (10, 20, 30), np.uint8))
    done = python(source_package, "-c", SET_UP, str(source_package), f"newest:{picture}")
    assert done.stdout == "aim\n", done.stderr


def test_a_source_whose_package_is_not_installed_is_asked_for_and_the_others_are_listed(source_package: Path) -> None:
    done = python(source_package, "-m", "downfield", "doctor", "--source", "wached:/x")
    printed = " ".join((done.stdout + done.stderr).split())
    assert "'wached:/x': no source is registered as wached. Is its package installed? Or use one of http" in printed
    assert ", newest, " in printed
    assert "Plug it in" not in printed


LIVE = """
import sys
from downfield.capture.sources.source_types import type_of
from downfield.core.errors import InputError
for address in sys.argv[1:]:
    try:
        print(type_of(address).live)
    except InputError as error:
        print(error)
"""


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import nothing_of_that_name", "No module named 'nothing_of_that_name'"),
        ("NEWEST = 1", "newest_picture:NEWEST is not a SourceType"),
    ],
)
def test_a_broken_source_is_named_and_leaves_other_sources_alone(source_package: Path, code: str, reason: str) -> None:
    (source_package / "newest_picture.py").write_text(f"{code}\n")
    done = python(source_package, "-c", LIVE, "newest:/x", "http://x")
    refused, other = done.stdout.splitlines()
    assert f"The source 'newest' of the package downfield-newest-picture can't be loaded: {reason}." in refused
    assert other == "True"


@pytest.fixture
def overlay_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The package of an overlay, installed for this test."""
    write(tmp_path, OVERLAY)
    install(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    found = (installed.installed_overlays, pages.assets, pages.overlay_pages, pages._overlay_files, pages.worker)
    for kept in found:
        kept.cache_clear()
    yield tmp_path
    sys.modules.pop("downfield_ticker", None)
    for kept in found:
        kept.cache_clear()


def test_an_overlay_of_three_files_shows_the_game_and_is_listed(overlay_package: Path, tmp_path: Path) -> None:
    assert len([path for path in overlay_package.rglob("*") if path.is_file() and ".dist-info" not in str(path)]) == 3
    service = PageServer(tmp_path / "data")
    (tmp_path / "data").mkdir()
    service.start()
    try:
        with browser() as chrome, page_in(chrome) as obs:
            obs.goto(f"{service.url}/overlay/downs?before=next&theme=light")
            service.publish("game", due="scrimmage", down=2, distance_yd=7.0)
            expect(obs.locator(".downs")).to_have_text("next: 2nd & 7")
            stage = obs.locator("#stage")
            expect(stage).to_have_css("opacity", "1")
            service.publish("on_air", OnAirView(elements=("banner",)))
            expect(stage).to_have_css("opacity", "0")
            obs.goto(f"{service.url}/#stream")
            card = obs.locator("article.overlay", has=obs.get_by_role("heading", name="Downs"))
            expect(card.get_by_label("Address")).to_have_value(f"{service.url}/overlay/downs")
    finally:
        service.stop()


def test_an_overlay_may_have_the_name_of_a_script_of_downfields(overlay_package: Path, tmp_path: Path) -> None:
    folder = overlay_package / "downfield_ticker"
    (folder / "board.overlay.toml").write_text((folder / "downs.overlay.toml").read_text())
    own = (folder / "downs.js").read_text().replace('"downs"', '"board"').replace("./dom.js", "./color.js")
    (folder / "board.js").write_text(own)
    (folder / "color.js").write_text('export * from "../dom.js";\n')
    service = PageServer(tmp_path / "data")
    (tmp_path / "data").mkdir()
    service.start()
    try:
        with browser() as chrome, page_in(chrome) as obs:
            obs.goto(f"{service.url}/overlay/board")
            service.publish("game", due="scrimmage", down=2, distance_yd=7.0)
            expect(obs.locator(".downs")).to_have_text("now: 2nd & 7")
            same = "Promise.all(['', 'downfield_ticker/'].map((at) => import(`/assets/${at}format.js`)))"
            assert obs.evaluate(f"{same}.then(([ours, theirs]) => ours.nameTeams === theirs.nameTeams)")
            assert obs.request.get(f"{service.url}/assets/downfield_ticker/none.js").status == 404
    finally:
        service.stop()


@pytest.mark.parametrize(
    ("file", "text", "reason"),
    [
        ("downs.overlay.toml", 'title = "Downs"\n', "downs.overlay.toml says no position"),
        ("downs.overlay.toml", 'position = "middle"\n', "downs.overlay.toml: position is not one of top-left"),
        ("calls.overlay.toml", 'position = "top"\n', "calls.overlay.toml has no script calls.js beside it"),
    ],
)
def test_a_broken_overlay_is_named_and_leaves_the_others_alone(
    overlay_package: Path, file: str, text: str, reason: str
) -> None:
    (overlay_package / "downfield_ticker" / file).write_text(text)
    names, problems = set(pages.overlay_pages()), installed.installed_overlays().problems
    assert {"calls", "scene", "sponsors"} < names
    assert "downs" not in names
    assert any(
        problem.startswith(f"The overlays of the package downfield-ticker can't be used: {reason}")
        for problem in problems
    ), problems


def test_a_package_replaces_no_overlay_of_downfields(overlay_package: Path) -> None:
    folder = overlay_package / "downfield_ticker"
    for suffix in (".overlay.toml", ".js"):
        (folder / f"downs{suffix}").rename(folder / f"calls{suffix}")
    found = installed.installed_overlays()
    assert "downfield-ticker can't be used: calls exists already." in found.problems[0]
    assert found.overlays["calls"].package == ""


def test_a_page_of_three_files_is_served(tmp_path: Path) -> None:
    package = tmp_path / "downfield"
    shutil.copytree(ROOT / "cli" / "as_module", package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "api", package / "api", ignore=shutil.ignore_patterns("__pycache__"))
    for room in ROOMS:
        if room != "api":
            (package / room).symlink_to(ROOT / room)
    write(package, ADDED_PAGE)
    assert len({title for _, title, _ in blocks(ADDED_PAGE)}) == 3
    code = (
        "from pathlib import Path\n"
        "from secured_service import SecuredService\n"
        "from downfield.api.security.access import AccessPolicy\n"
        f"service = SecuredService(Path({str(tmp_path / 'store.db')!r}), AccessPolicy(lan=True))\n"
        "phone = service.phone()\n"
        "print(*(phone.get(path).status for path in ('/wall', '/assets/wall.js', '/program')))\n"
        "from browsers import PageServer, browser, page_in\n"
        f"shown = PageServer(Path({str(tmp_path)!r}), AccessPolicy(lan=True, trust_local=False))\n"
        "shown.start()\n"
        "with browser() as chrome, page_in(chrome, phone=True) as page:\n"
        "    page.goto(f'{shown.url}/wall')\n"
        "    page.get_by_role('link', name='Pair this device').click()\n"
        "    page.wait_for_url('**/pair')\n"
        "shown.stop()"
    )
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT / 'tests'}"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.stdout == "200 200 200\n", done.stderr
