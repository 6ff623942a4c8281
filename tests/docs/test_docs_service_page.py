"""The page of the service is what the code says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_of_the_service_is_what_the_code_says(tmp_path: Path) -> None:
    made = tmp_path / "service.md"
    subprocess.run([sys.executable, ROOT / "docs" / "service_page.py", made], check=True)
    assert (ROOT / "docs" / "service.md").read_text() == made.read_text(), "run `make docs`"
