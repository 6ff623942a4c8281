"""The container's recipe names what exists: settings, system libraries, the health check's address, the command."""

from __future__ import annotations

import re
from pathlib import Path

from downfield.cli.main import COMMANDS
from downfield.rig.configuration.loading import load

ROOT = Path(__file__).parents[1]
RECIPE = (ROOT / "Containerfile").read_text()


def test_its_environment_is_settings_that_exist() -> None:
    given = dict(re.findall(r"(DOWNFIELD_\w+)=(\S+)", RECIPE))
    settings = load(environment=given).settings
    assert settings.data == "/data"
    assert settings.service.lan
    assert not settings.service.trust_local, "whoever comes through the published port would be the admin"


def test_it_installs_the_libraries_that_the_rig_needs() -> None:
    needed = re.search(r"packages=\((.*)\)", (ROOT / ".ci" / "system-libraries").read_text())
    assert needed is not None
    assert f"--no-install-recommends {needed[1]} " in RECIPE


def test_its_health_check_asks_an_address_that_the_service_has() -> None:
    path = re.search(r"http://127\.0\.0\.1:8317(/\w+)", RECIPE)
    assert path is not None
    assert f'@router.get("{path[1]}"' in (ROOT / "api" / "routes" / "health.py").read_text()


def test_it_does_not_run_as_root_and_runs_the_rig() -> None:
    assert "\nUSER downfield\n" in RECIPE
    command = re.search(r'CMD \["(\w+)"\]\n', RECIPE)
    assert command is not None
    assert command[1] in COMMANDS
