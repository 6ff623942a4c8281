"""The page of the service is what the code says."""

from __future__ import annotations

from pathlib import Path

import service_page


def test_the_page_of_the_service_is_what_the_code_says() -> None:
    written = Path(service_page.__file__).with_name("service.md").read_text()
    assert written == "".join(service_page.page()), "run `make docs`"
