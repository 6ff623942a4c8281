"""Takes out of a text what must not leave a computer: secrets, paths, addresses, and who is logged in."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s\"'<>|]+")
_USER_AT: Final = re.compile(r"[^\s/@\"']+:[^\s@\"']*@(?=[^\s])")
_TOKEN: Final = re.compile(
    r"(?<![A-Za-z0-9_+/=-])(?=[A-Za-z0-9_+/=-]*\d)(?=[A-Za-z0-9_+/=-]*[A-Za-z])[A-Za-z0-9_+/=-]{20,}"
)
_NAMED_SECRET: Final = re.compile(
    r"(?i)((?:pass(?:word)?|secret|token|key|bearer|authorization|code)[\"']?\s*[=:]\s*[\"']?)[^\s\"',;]+"
)
_POSIX_PATH: Final = re.compile(r"(?<![\w.:/~<])/(?:[^\s/\"'<>|:,;()]+/)*([^\s/\"'<>|:,;()]*)")
_WINDOWS_PATH: Final = re.compile(r"\b[A-Za-z]:\\(?:[^\\\s\"'<>|]+\\)*([^\\\s\"'<>|]*)")
_IPV4: Final = re.compile(r"(?<![\d.])(?!127\.)(?:\d{1,3}\.){3}\d{1,3}(?![\d.])")
_IPV6: Final = re.compile(r"(?<![\w:])(?:[0-9A-Fa-f]{1,4}:){4,7}[0-9A-Fa-f]{0,4}(?![\w:])")


class Scrubber:
    """Takes out secrets, paths and addresses, each with a word in its place that says what it was.

    Args:
        names: what known folders are called instead, such as the data folder.
        secrets: texts that must not appear, whatever they look like, also as JSON writes them.

    """

    def __init__(self, names: Iterable[tuple[Path, str]] = (), secrets: Iterable[str] = ()) -> None:
        folders = {str(path.expanduser().absolute()): name for path, name in names}
        folders |= {str(Path(path).resolve()): name for path, name in list(folders.items())}
        self._folders = sorted(folders.items(), key=lambda item: -len(item[0]))
        whole = {secret for secret in secrets if secret}
        whole |= {json.dumps(secret)[1:-1] for secret in whole}
        self._secrets = sorted(whole, key=len, reverse=True)

    def scrub(self, text: str) -> str:
        """Return a text without them."""
        for secret in self._secrets:
            text = text.replace(secret, "<secret>")
        text = _URL.sub(lambda found: _host_hidden(found[0]), text)
        text = _USER_AT.sub("<user>@", text)
        for folder, name in self._folders:
            if len(folder) > 1:
                text = text.replace(folder, name)
        text = _POSIX_PATH.sub(lambda found: f"<path>/{found[1]}" if found[1] else "<path>", text)
        text = _WINDOWS_PATH.sub(lambda found: f"<path>/{found[1]}", text)
        text = _NAMED_SECRET.sub(r"\1<secret>", text)
        text = _TOKEN.sub("<token>", text)
        return _IPV6.sub("<address>", _IPV4.sub("<address>", text))


def _host_hidden(url: str) -> str:
    """Return an address with its scheme alone, as hosts and paths of a network are its owner's business."""
    scheme, _, rest = url.partition("://")
    host = re.split(r"[/?#]", rest.rpartition("@")[2])[0]
    local = host.startswith(("127.", "localhost", "[::1]"))
    return f"{scheme}:<this computer>" if local else f"{scheme}:<address>"
