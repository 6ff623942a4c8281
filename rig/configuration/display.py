"""The settings as people see them, and texts without what must not leave a computer.

Settings are shown as TOML and as the documentation page, without passwords and keys. Out of other texts secrets, paths,
addresses and who is logged in are taken. Libraries that do this (scrubadub, presidio) look for names of persons in
prose by models of hundreds of megabytes; here paths, addresses and random words in logs are meant, for which
expressions are exact.
"""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterable, Iterator
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, quote, quote_plus

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from downfield.api.security.secret_file import ADMIN_KEY
from downfield.core.addresses import host_only, split_address, without_password
from downfield.rig.configuration.loading import Configuration
from downfield.rig.configuration.settings import RigSettings, data_folder, logs_folder, recordings_folder

HIDDEN: Final = "(set)"  # Shown in place of a secret


def shown_values(settings: BaseModel) -> dict[str, Any]:
    """Return all settings as JSON values, by section and key, without what is secret in them."""
    values: dict[str, Any] = settings.model_dump(mode="json")
    for name, field in type(settings).model_fields.items():
        value = getattr(settings, name)
        values[name] = shown_values(value) if isinstance(value, BaseModel) else shown_value(field, values[name])
    return values


def secret_texts(settings: BaseModel) -> Iterator[str]:
    """Yield every text of the settings that must not be shown, and the passwords in addresses by themselves."""
    for field, text in _texts(settings):
        if shown_value(field, text) != text:
            yield text
            yield from text.split() if "://" in text else ()  # of several addresses each
            with suppress(ValueError):
                yield split_address(text).password


def shown_value(field: FieldInfo, value: Any) -> Any:
    """Return a setting's JSON value without what is secret in it: a password, a key, the path of a webhook."""
    if isinstance(value, list):
        return [shown_value(field, one) for one in value]
    if not isinstance(value, str) or not value:
        return value
    extra = field.json_schema_extra
    hidden_part = extra.get("secret") if isinstance(extra, dict) else None
    if hidden_part == "value":
        return HIDDEN
    return host_only(value) if hidden_part == "path" else without_password(value)


def as_toml(configuration: Configuration) -> Iterator[str]:
    """Yield the lines of a file with the same settings; a comment names the origin of values that are not defaults.

    Settings with a password or another secret in them are comments, without it: read again, they would be wrong.
    """
    for section, model in sections(configuration.settings):
        if section:
            yield f"\n[{section}]"
        for key in own_keys(type(model)):
            origin = configuration.origins.get(f"{section}.{key}" if section else key)
            value = model.model_dump(mode="json", include={key})[key]
            shown = shown_value(type(model).model_fields[key], value)
            if shown == value:
                yield f"{key} = {toml_value(value)}" + (f"  # {origin}" if origin else "")
            else:
                yield f"# {key} = {toml_value(shown)}  # {origin}; what is secret in it is not shown"


def sections(settings: RigSettings) -> Iterator[tuple[str, BaseModel]]:
    """Yield the settings outside any section, with an empty name, then every section."""
    yield "", settings
    for name in RigSettings.model_fields:
        value = getattr(settings, name)
        if isinstance(value, BaseModel):
            yield name, value


def own_keys(model: type[BaseModel]) -> Iterator[str]:
    """Yield the keys of a section that are not sections themselves."""
    for name, field in model.model_fields.items():
        if not (isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)):
            yield name


def toml_value(value: object) -> str:
    """Return a value as TOML; JSON writes all types of settings in the same way."""
    return json.dumps(value)


_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s\"'<>|]+")
_USER_AT: Final = re.compile(r"[^\s/@\"']+:[^\s@\"']*@(?=[^\s])")
_TOKEN: Final = re.compile(r"(?<![A-Za-z0-9_+/=-])[A-Za-z0-9_+/=-]{20,}")
_NAMES_IN_CODE: Final = re.compile(r"_*[A-Za-z][a-z]*(?:[A-Z][a-z]+)*(?:[_/-][A-Za-z]?[a-z]*(?:[A-Z][a-z]+)*)*")
"""Words of a program, such as `IncompatibleCalibrationError` or `frames_per_second`, which look like tokens."""

_NAMED_SECRET: Final = re.compile(
    r"(?i)((?:(?:pass(?:word|phrase|wd)?|pwd|secret|token|key|bearer|authorization|code|pin)[\"']?\s*[=:]"
    r"(?:\s*(?:basic|bearer|digest)\b)?|\bpass(?:word|phrase)\s+is|\bbearer)\s*[\"']?)(?!<)[^\s\"',;]+"
)
_ONE_TIME_CODE: Final = re.compile(r"(?i)\b((?:code|pin)\s+)(?=[A-Z0-9-]*\d)[A-Z0-9-]{6,}\b")
_POSIX_PATH: Final = re.compile(r"(?<![\w./~\ue001])/+(?:[^\s/\"'<>|:,;()]+/)*([^\s/\"'<>|:,;()]*)")
_HOME_OF: Final = re.compile(r"(?<![\w/])~[\w.-]+(?=[/\\])")
_WINDOWS_PATH: Final = re.compile(r"\b[A-Za-z]:[\\/](?:[^\\/\s\"'<>|]+[\\/])*([^\\/\s\"'<>|]*)")
_SHARE: Final = re.compile(r"\\\\[^\\\s\"'<>|]+\\(?:[^\\\s\"'<>|]+\\)*([^\\\s\"'<>|]*)")
_ENCODED_PATH: Final = re.compile(r"(?i)(?:%2F[^%\s\"'<>|&/]+)+%2F([^%\s\"'<>|&/]*)")
_IPV4: Final = re.compile(r"(?<![\d.])(?!127\.)(?:\d{1,3}\.){3}\d{1,3}(?![\d.])")
_IPV6: Final = re.compile(r"(?<![\w:.])[0-9A-Fa-f]{0,4}:[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*(?:%\w+)?")
_HARDWARE: Final = re.compile(r"(?i)(?<![\w:-])(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}(?![\w:-])")
_LOCAL_NAME: Final = re.compile(r"(?i)\b(?:[\w-]+\.)+(?:local|lan|home|internal|localdomain|home\.arpa)\b(?!\.\w)")
_SECRET_NAME: Final = re.compile(r"(?i)pas|pwd|psw|secret|token|auth|key$")
_OWN_HOSTS: Final = {"", "localhost", "127.0.0.1", "::1", "0.0.0.0", "::"}  # noqa: S104  (nothing listens there)


class Scrubber:
    """Takes out secrets, paths and addresses, each with a word in its place that says what it was.

    Args:
        names: what known folders are called instead, such as the data folder.
        secrets: texts that must not appear, whatever they look like, also as JSON and addresses write them.
        hosts: names of computers that must not appear.
    """

    def __init__(
        self, names: Iterable[tuple[Path, str]] = (), secrets: Iterable[str] = (), hosts: Iterable[str] = ()
    ) -> None:
        folders = {str(path.expanduser().absolute()): name for path, name in names}
        folders |= {str(Path(path).resolve()): name for path, name in list(folders.items())}
        # Until all other paths are gone, what a folder is called instead stands between two marks.
        self._folders = [
            (re.compile(re.escape(folder) + r"(?![\w-])"), f"\ue000{name[1:-1]}\ue001")
            for folder, name in sorted(folders.items(), key=lambda item: -len(item[0]))
            if len(folder) > 1
        ]
        whole = {secret for secret in secrets if secret}
        whole |= {json.dumps(secret)[1:-1] for secret in whole}
        whole |= {encoded for secret in whole for encoded in (quote(secret, safe=""), quote_plus(secret))}
        self._secrets = sorted(whole, key=len, reverse=True)
        known = sorted({re.escape(host) for host in hosts if len(host) > 1}, key=len, reverse=True)
        self._hosts = re.compile(rf"(?i)(?<![\w.-])(?:{'|'.join(known)})(?![\w-])") if known else None

    def scrub(self, text: str) -> str:
        """Return a text without them."""
        text = text.replace("\ue000", "").replace("\ue001", "")
        for secret in self._secrets:
            text = text.replace(secret, "<secret>")
        text = _URL.sub(lambda found: _host_hidden(found[0]), text)
        text = _USER_AT.sub("<user>@", text)
        for folder, mark in self._folders:
            text = folder.sub(mark, text)
        text = _NAMED_SECRET.sub(r"\1<secret>", text)
        text = _ONE_TIME_CODE.sub(r"\1<secret>", text)
        for path in (_SHARE, _WINDOWS_PATH, _POSIX_PATH, _ENCODED_PATH):
            text = path.sub(lambda found: f"\ue000path\ue001{'/' * bool(found[1])}{found[1]}", text)
        text = _HOME_OF.sub("<home>", text)
        text = text.replace("\ue000", "<").replace("\ue001", ">")
        text = _TOKEN.sub(lambda found: "<token>" if _is_token(found[0]) else found[0], text)
        text = _HARDWARE.sub("<address>", text)
        text = _IPV6.sub(lambda found: "<address>" if _is_address(found[0]) else found[0], text)
        text = _LOCAL_NAME.sub("<address>", text)
        if self._hosts is not None:
            text = self._hosts.sub("<address>", text)
        return _IPV4.sub("<address>", text)


def scrubber_of(settings: RigSettings) -> Scrubber:
    """Return what takes a rig's secrets, paths and addresses out of texts."""
    folder = data_folder(settings)
    names = [
        (folder, "<data>"),
        (recordings_folder(settings), "<recordings>"),
        (logs_folder(settings), "<logs>"),
        (Path.home(), "<home>"),
        (Path.cwd(), "<here>"),
    ]
    addresses = [text for _, text in _texts(settings) if "://" in text or "@" in text]
    secrets, hosts = [*addresses, *secret_texts(settings)], [socket.gethostname(), *settings.service.names]
    for text in addresses:
        with suppress(ValueError):
            address = split_address(text)
            hosts.append(address.host)
            query = parse_qsl(address.target.partition("?")[2])
            secrets += [value for name, value in query if _SECRET_NAME.search(name)]
    with suppress(OSError):
        secrets.append((folder / ADMIN_KEY).read_text(encoding="utf-8").strip())
    return Scrubber(names, secrets, (host for host in hosts if host not in _OWN_HOSTS))


def _texts(model: BaseModel) -> Iterator[tuple[FieldInfo, str]]:
    """Yield every setting that is a text, or several, in all sections."""
    for name, field in type(model).model_fields.items():
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            yield from _texts(value)
        texts = value if isinstance(value, tuple) else (value,)
        yield from ((field, text) for text in texts if isinstance(text, str))


def _host_hidden(url: str) -> str:
    """Return an address with its scheme alone, as hosts and paths of a network are its owner's business."""
    scheme, _, rest = url.partition("://")
    host = re.split(r"[/?#]", rest.rpartition("@")[2])[0]
    local = re.match(r"(127\.[\d.]+|localhost|\[::1\])(:\d+)?$", host) is not None
    return f"{scheme}:<this computer>" if local else f"{scheme}:<address>"


def _is_token(text: str) -> bool:
    """Return whether a long word is random: words of a program and lines drawn with letters are not."""
    return len(set(text)) > 3 and _NAMES_IN_CODE.fullmatch(text) is None


def _is_address(text: str) -> bool:
    """Return whether a text is an IPv6 address of another computer; times and ratios have colons, too."""
    try:
        address = ip_address(text.rstrip(".:") if not text.endswith("::") else text)
    except ValueError:
        return False
    return not (address.is_loopback or address.is_unspecified)
