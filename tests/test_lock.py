"""The lock file: it has all that the rig needs, by versions that the project accepts, and a hash for every file."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
EXTRAS_OF_RIGS = ("postgres", "tournament", "scripts", "mqtt", "phone")
LOCK = (ROOT / "requirements.lock").read_text()
PINNED = re.findall(r"^(\S+)==(\S+)(?: ; (.*?))?(?: \\)?$", LOCK, re.MULTILINE)


def test_every_dependency_is_pinned_to_a_version_that_is_accepted() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [one for extra in EXTRAS_OF_RIGS for one in project["optional-dependencies"][extra]]
    wanted = [one for one in map(Requirement, [*project["dependencies"], *extras]) if one.name != "downfield"]
    for requirement in wanted:
        name = canonicalize_name(requirement.name)
        versions = [version for pinned, version, _ in PINNED if canonicalize_name(pinned.split("[")[0]) == name]
        assert versions, f"{requirement}: missing. Run `make lock`."
        assert all(requirement.specifier.contains(version) for version in versions), f"{requirement}: {versions}"


def test_every_pinned_package_has_hashes_and_no_address() -> None:
    blocks = re.split(r"^(?=\S+==)", LOCK, flags=re.MULTILINE)[1:]
    assert len(blocks) == len(PINNED)
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}", block) for block in blocks)
    assert "://" not in LOCK
