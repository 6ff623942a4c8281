"""The addresses that are shown for other devices: only those that other devices can use."""

from __future__ import annotations

import pytest

from downfield.api.http.network_addresses import network_hosts, qr_svg, qr_text, urls, usable


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        ([("lo", "127.0.0.1"), ("eth0", "192.168.1.5")], ["192.168.1.5"]),
        ([("eth0", "192.168.1.5"), ("eth0", "fe80::1%eth0"), ("eth0", "fd00::5")], ["192.168.1.5", "fd00::5"]),
        ([("docker0", "172.17.0.1"), ("veth12", "10.0.0.9"), ("wlan0", "10.0.0.7")], ["10.0.0.7"]),
        ([("eth0", "169.254.7.7"), ("wlan0", "10.0.0.7")], ["10.0.0.7"]),
        ([("eth0", "169.254.7.7")], ["169.254.7.7"]),
        ([("eth0", "10.0.0.7"), ("eth0:1", "10.0.0.7")], ["10.0.0.7"]),
        ([("lo", "::1"), ("eth0", "fe80::1%2")], []),
    ],
)
def test_only_addresses_that_lead_here_from_elsewhere_are_shown(found: list[tuple[str, str]], shown: list[str]) -> None:
    assert [str(address) for address in usable(found)] == shown


def test_addresses_are_written_as_browsers_read_them() -> None:
    assert urls(["10.0.0.7", "[fd00::5]", "rig.local"], "https", 8318, "/football") == [
        "https://10.0.0.7:8318/football/",
        "https://[fd00::5]:8318/football/",
        "https://rig.local:8318/football/",
    ]
    assert urls(["10.0.0.7"], "http", 80) == ["http://10.0.0.7/"]


def test_this_computer_can_tell_its_own_addresses() -> None:
    assert not {"127.0.0.1", "[::1]"} & set(network_hosts())


def test_a_code_is_drawn_for_pages_and_terminals() -> None:
    text = "https://192.168.1.5:8318/pair#ABCDEFGHJK"
    assert qr_svg(text).startswith(b"<svg")
    widths = {len(line) for line in qr_text(text).splitlines() if line}
    assert len(widths) == 1
    assert widths.pop() < 80
