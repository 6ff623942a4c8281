"""The doctor tries the store that games will be kept in, and leaves it as it was."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import httpx
import pytest
from relayed_service import RelayedService
from waiting import WAIT_S

from downfield.api.http import network_addresses
from downfield.rig.configuration.settings import RigSettings, ServiceSettings
from downfield.rig.service.web_service import open_listener
from downfield.rig.upkeep.computer_checks import check_port, check_store
from downfield.store.writing.store import Store


def settings(**values: object) -> RigSettings:
    return RigSettings.model_validate(values)


def test_a_store_that_can_be_written_is_ok_and_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "downfield.db"
    Store.at(path).close()
    with sqlite3.connect(path) as before:
        tables = before.execute("SELECT name FROM sqlite_master ORDER BY name").fetchall()
    before.close()
    for named in ({"data": str(tmp_path)}, {"store": {"url": f"sqlite:///{path}"}}):
        assert check_store(settings(**named)).state == "ok"
    with sqlite3.connect(path) as after:
        assert after.execute("SELECT name FROM sqlite_master ORDER BY name").fetchall() == tables
    after.close()


def test_a_store_that_is_not_there_yet_is_not_made(tmp_path: Path) -> None:
    result = check_store(settings(data=str(tmp_path / "new")))
    assert (result.state, result.text) == ("ok", f"{tmp_path}/new/downfield.db is made with the first game")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("damage", ["no database", "a folder", "under a file", "no server"])
def test_a_store_that_can_not_be_written_is_a_fault(tmp_path: Path, damage: str) -> None:
    url = f"sqlite:///{tmp_path}/downfield.db"
    if damage == "no database":
        (tmp_path / "downfield.db").write_bytes(b"no database" * 1000)
    elif damage == "a folder":
        (tmp_path / "downfield.db").mkdir()
    elif damage == "under a file":
        (tmp_path / "file").touch()
        url = f"sqlite:///{tmp_path}/file/downfield.db"
    else:
        url = "postgresql://coach:secret@127.0.0.1:9/games"
    result = check_store(settings(store={"url": url}))
    assert result.state == "fault"
    assert "secret" not in result.text
    assert result.remedy


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_a_port_is_checked_on_the_address_that_the_service_listens_on(host: str) -> None:
    listener = open_listener(host, 0)
    port = listener.getsockname()[1]
    taken = check_port(ServiceSettings(host=host, port=port))
    listener.close()
    assert (taken.state, "can't be opened" in taken.text) == ("fault", True)
    assert check_port(ServiceSettings(host=host, port=port)).state == "ok"


@pytest.mark.parametrize(
    ("settings", "own", "others"),
    [
        ({"host": "::1"}, "http://[::1]:", []),
        ({"host": "127.0.0.2"}, "http://127.0.0.2:", []),
        ({"host": "::1", "lan": True}, "http://127.0.0.1:", ["http://192.0.2.7:", "http://[2001:db8::7]:"]),
        ({"host": "0.0.0.0"}, "http://127.0.0.1:", ["http://192.0.2.7:"]),
        (
            {"proxies": ["127.0.0.1"], "names": ["league.example"], "prefix": "/t1"},
            "/t1/",
            ["https://league.example/t1/"],
        ),
    ],
)
def test_addresses_that_are_printed_are_those_that_can_be_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, object], own: str, others: list[str]
) -> None:
    monkeypatch.setattr(network_addresses, "network_hosts", lambda: ["192.0.2.7", "[2001:db8::7]"])
    served = RelayedService(tmp_path / "a.db", ServiceSettings.model_validate({"port": 0, **settings}))
    try:
        assert own in served.service.address
        assert httpx.get(f"{served.service.address}healthz", timeout=WAIT_S).status_code == 200
        found = served.service.network_addresses()
        assert [address.startswith(other) for address, other in zip(found, others, strict=True)] == [True] * len(others)
    finally:
        served.end()
