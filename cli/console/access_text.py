"""What `downfield run` says about reaching the service: addresses, the admin's link, a code for a phone's camera."""

from __future__ import annotations

from typing import Final

from rich.console import Console

from downfield.api.http.network_addresses import qr_text
from downfield.rig.web_service import Service

QR_COLORS: Final = "#ffffff on #000000"


def print_access(console: Console, service: Service) -> None:
    """Print the link for this computer and, when other devices can reach the service, their addresses and a QR code."""
    console.print(f"Open  {service.admin_link}  in a browser on this computer.")
    addresses = service.network_addresses()
    if not addresses:
        return
    for address in addresses:
        console.print(f"On other devices:  {address}")
    if service.certificate is not None:
        console.print(
            "The certificate is the rig's own; a browser warns once. Its SHA-256 fingerprint:",
        )
        console.print(f"  {service.certificate.fingerprint}")
    link = service.pairing_link("operator")
    console.print(
        "Scan this with the operator's phone (one phone, within 10 minutes; more on the start page):",
    )
    print_qr(console, link)
    console.print(f"  or open  {link}")


def print_qr(console: Console, text: str) -> None:
    """Print a QR code, if the terminal's encoding has the characters for it.

    Its colors are given, or a terminal that writes dark on light would show it inverted, which not every phone reads.
    """
    code = qr_text(text)
    try:
        code.encode(console.encoding)
    except UnicodeEncodeError:
        return
    for line in code.splitlines():
        console.print(line, style=QR_COLORS)
