"""What keeps a release from being made, each with what to do; nothing is tagged or built."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CHANGELOG = "# Changelog\n\n## [1.2.3] - 2026-01-31\n\n- A thing.\n\n## [1.2.2] - 2026-01-01\n\n- Another.\n"


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=Pat", "-c", "user.email=pat@example.org", "-c", "commit.gpgsign=false"]
    command = ["git", *identity, *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "release", tmp_path / ".ci")
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "downfield"\nversion = "1.2.3"\n')
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    git(tmp_path, "init", "--quiet")
    commit(tmp_path)
    return tmp_path


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "Change")


def checked(folder: Path) -> tuple[int, str]:
    done = subprocess.run([".ci/release", "--check"], cwd=folder, check=False, capture_output=True, text=True)
    assert not (folder / "build").exists()
    return done.returncode, (done.stdout + done.stderr).strip()


def test_a_dated_changelog_and_a_clean_tree_are_enough(project: Path) -> None:
    assert checked(project) == (0, "Everything is ready for 1.2.3.")
    assert git(project, "tag") == ""


def test_an_empty_unreleased_section_may_stay(project: Path) -> None:
    (project / "CHANGELOG.md").write_text(CHANGELOG.replace("## [1.2.3]", "## [Unreleased]\n\n## [1.2.3]"))
    commit(project)
    assert checked(project)[0] == 0


@pytest.mark.parametrize(
    ("file", "before", "after", "refusal"),
    [
        ("CHANGELOG.md", " - 2026-01-31", "", "no section '## [1.2.3] - YYYY-MM-DD'"),
        ("CHANGELOG.md", "## [1.2.3]", "## [Unreleased]\n\n- More.\n\n## [1.2.3]", "changes under Unreleased"),
        ("pyproject.toml", "1.2.3", "1.2", "is not MAJOR.MINOR.PATCH"),
    ],
)
def test_a_release_that_is_not_described_is_refused(
    project: Path, file: str, before: str, after: str, refusal: str
) -> None:
    (project / file).write_text((project / file).read_text().replace(before, after))
    commit(project)
    status, output = checked(project)
    assert status == 1
    assert refusal in output


def test_changes_that_are_not_committed_are_refused(project: Path) -> None:
    (project / "new.txt").write_text("new")
    assert "not committed" in checked(project)[1]


def test_a_version_is_released_once(project: Path) -> None:
    git(project, "tag", "--annotate", "v1.2.3", "--message", "Released")
    assert "already tagged" in checked(project)[1]


def test_the_version_stands_in_one_place() -> None:
    """Documents name it in file names of examples; code asks the package."""
    version = next(
        line.split('"')[1] for line in (ROOT / "pyproject.toml").read_text().splitlines() if line.startswith("version")
    )
    tracked = [name for name in git(ROOT, "ls-files").splitlines() if name.endswith((".py", ".toml", ".js", ".html"))]
    named = [name for name in tracked if f"downfield {version}" in (ROOT / name).read_text()]
    assert named == [], "these name the version as well"
