"""Write the page of every setting: ``python docs/configuration_page.py docs/configuration.md``."""

from __future__ import annotations

import sys
from pathlib import Path

from downfield.core.records import write_text
from downfield.rig.configuration.display import page

if __name__ == "__main__":
    write_text(Path(sys.argv[1]), (line + "\n" for line in page()))
