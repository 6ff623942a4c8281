"""What is secret in the configuration is shown nowhere: not on the terminal, on pages, in reports or in bundles."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from downfield.cli.main import run_command
from downfield.rig.configuration.display import as_toml, scrubber_of, secret_texts, shown_values
from downfield.rig.configuration.loading import load, setting_keys
from downfield.rig.configuration.settings import RigSettings

SECRETS = {
    "source.name": '"rtsp://coach:S3CRET@table/1?user=me&pwd=S3CRET"',
    "store.url": '"postgresql://me:S3CRET@host/games?sslpassword=S3CRET"',
    "obs.address": '"ws://me:S3CRET@host:4455"',
    "obs.password": '"S3CRET"',
    "webhook.url": '"https://hooks.example/services/T0/S3CRET?wait=true"',
    "webhook.signing_key": '"S3CRET"',
    "mqtt.address": '"mqtts://me:S3CRET@host"',
    "tournament.database": '"postgresql://me:S3CRET@host/desk"',
}
SECRET_NAMES = ("password", "secret", "token", "key")
PATHS = {"service.private_key"}


def settings() -> RigSettings:
    return load(environment={}, command_line={key: json.loads(text) for key, text in SECRETS.items()}).settings


def test_the_command_prints_no_secret(capsys: pytest.CaptureFixture[str]) -> None:
    options = [part for key, text in SECRETS.items() for part in ("--set", f"{key}={text}")]
    assert run_command(["config", *options]) == 0
    printed = capsys.readouterr()
    assert "S3CRET" not in printed.out + printed.err
    assert '# password = "(set)"  # command line; what is secret in it is not shown' in printed.out
    assert '# url = "https://hooks.example/***"' in printed.out
    assert '# name = "rtsp://coach@table/1?user=me&pwd=***"' in printed.out


def test_what_is_printed_is_read_again_without_what_was_secret() -> None:
    loaded = load(environment={}, command_line={"obs.password": "S3CRET", "obs.scene": "Replay", "source.fps": 25})
    again = RigSettings.model_validate(tomllib.loads("\n".join(as_toml(loaded))))
    assert (again.obs.password, again.obs.scene, again.source.fps) == ("", "Replay", 25)


def test_no_secret_is_shown_on_pages_or_leaves_the_computer() -> None:
    shown = json.dumps(shown_values(settings()))
    assert "S3CRET" not in shown
    assert "coach@table" in shown
    logged = "obs said S3CRET; posting to https://hooks.example/services/T0/S3CRET?wait=true failed"
    assert "S3CRET" not in scrubber_of(settings()).scrub(logged)


def test_every_setting_with_the_name_of_a_secret_is_one() -> None:
    named = [key for key in setting_keys() if any(name in key.partition(".")[2].split("_") for name in SECRET_NAMES)]
    assert "obs.password" in named
    for key in set(named) - PATHS:
        given_settings = load(environment={}, command_line={key: "S3CRET"}).settings
        assert "S3CRET" not in json.dumps(shown_values(given_settings)), f"{key} is shown"


def texts(section: BaseModel, prefix: str = "") -> Iterator[str]:
    """Yield the keys of settings that take any text."""
    for name, field in type(section).model_fields.items():
        value = getattr(section, name)
        if isinstance(value, BaseModel):
            yield from texts(value, f"{name}.")
        elif field.annotation is str and not field.metadata:
            yield prefix + name


@given(st.sampled_from(sorted(texts(RigSettings()))), st.from_regex(r"[A-Za-z0-9+/=._-]{4,20}", fullmatch=True))
def test_a_password_in_any_address_is_hidden(key: str, part: str) -> None:
    secret = f"Q{part}Q"
    loaded = load(environment={}, command_line={key: f"http://coach:{secret}@host/x?auth={secret}"})
    assert secret not in "\n".join(as_toml(loaded))
    assert secret in "".join(secret_texts(loaded.settings))


@pytest.mark.parametrize("text", ["0", "C270 HD WEBCAM", "/dev/video0", "play.mp4", "rtsp://table/1", "twin:tackle"])
def test_what_holds_no_secret_is_shown_as_it_is(text: str) -> None:
    loaded = load(environment={}, command_line={"source.name": text})
    assert shown_values(loaded.settings)["source"]["name"] == text
    assert not list(secret_texts(loaded.settings))


def test_a_rulebook_that_is_not_installed_is_no_configuration(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["config", "--set", "game.rulebook=nba"]) == 2
    assert "No rulebook is named 'nba'. Installed rulebooks: efl" in capsys.readouterr().err
