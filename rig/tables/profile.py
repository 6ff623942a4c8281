"""A table profile, ``*.table.json``: a camera over a printed field, set up once and found again."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from downfield.api.table_setup import CameraOption, FieldOption, SavedTable
from downfield.calibration.calibration import Calibration
from downfield.calibration.picture_match import match_picture
from downfield.capture.sources.camera_system import list_cameras, match_camera
from downfield.capture.sources.phone import PHONE_SOURCE
from downfield.capture.sources.phone_link import PHONE_LINK
from downfield.capture.sources.source_types import is_address
from downfield.core.addresses import split_address, without_password
from downfield.core.arrays import Image
from downfield.core.errors import DownfieldError, InputError, NotFoundError, OutputError
from downfield.core.field.model import FieldModel, measured_field_toml
from downfield.core.files.facts import by_date, date_last
from downfield.core.files.input_files import read_text
from downfield.core.files.private_files import replace_private_file
from downfield.core.records import check, read_record, record, to_json, write_text

SUFFIX: Final = ".table.json"
IN_USE: Final = "in-use"
_LONGEST_NAME: Final = 60
_LONGEST_ID_BYTES: Final = 200
"""Of UTF-8: file systems take names of 255 bytes, and the suffix and that of an unfinished file belong to them."""
_DIGEST_DIGITS: Final = 12


@record
class TableProfile:
    """A table that was set up. Raises InputError: the name is empty, too long or has control characters."""

    name: str  # its name for people
    # what identifies its camera: the permanent path of a USB camera (with its maker and serial number), or the address
    # of a stream
    camera: str
    source: str  # how to open the camera, as for ``--source``
    calibration: Calibration  # of that camera over that board, with the certificate if the table was certified
    field_toml: str = ""  # the printed field as a field file, to be used with ``--field``
    format: Literal["downfield.table"] = "downfield.table"
    version: Literal[1] = 1

    def __post_init__(self) -> None:
        check_table_name(self.name)

    @property
    def id(self) -> str:
        """The name as it is in the file's name."""
        return table_id(self.name)


@dataclass(frozen=True, slots=True)
class PhoneOfAnyTable:
    """The phone as what is opened: whatever table it hangs over is known by its picture."""

    name: str = "the phone"
    source: str = PHONE_SOURCE


NamedSource = TableProfile | PhoneOfAnyTable
"""What is opened next."""


def check_table_name(name: str) -> None:
    """Refuse, by an InputError, a name that is empty, too long, or has characters that can't be seen."""
    printable = "".join(char if char.isprintable() else "?" for char in name[:80])
    is_name = name.strip() == name and name.isprintable() and 0 < len(name) <= _LONGEST_NAME
    check(
        is_name and bool(table_id(name)),
        InputError,
        f"'{printable}' is no name for a table. Use letters or digits, {_LONGEST_NAME} characters at most, and no"
        " invisible ones.",
    )


def table_id(name: str) -> str:
    """Return a table's name as it is in the name of its file; of a long one the beginning and a digest."""
    bare = re.sub(r"[\W_]+", "-", name.casefold()).strip("-")
    content = bare.encode(errors="surrogatepass")
    if len(content) <= _LONGEST_ID_BYTES:
        return bare
    begin = content[: _LONGEST_ID_BYTES - _DIGEST_DIGITS - 1].decode(errors="ignore")
    return f"{begin}-{hashlib.sha256(content).hexdigest()[:_DIGEST_DIGITS]}"


def new_profile(name: str, source: str, calibration: Calibration) -> TableProfile:
    """Return the profile of a table that was just calibrated; spaces around its name are dropped.

    Raises:
        InputError: it can't be the name of a table.
    """
    field_toml = measured_field_toml(calibration.field)
    return TableProfile(name.strip(), camera_identity(source), source, calibration, field_toml)


def camera_options(running: str) -> tuple[CameraOption, ...]:
    """Return the cameras that can be chosen, first the one in play where it is no camera of this computer."""
    found = [CameraOption(source=camera.identity, name=camera.name) for camera in list_cameras()]
    if (phone := PHONE_LINK.session) is not None and running != PHONE_SOURCE:
        found.insert(0, CameraOption(source=PHONE_SOURCE, name=f"The phone: {phone.name}"))
    if running and running not in {option.source for option in found}:
        known = "the phone" if running == PHONE_SOURCE else without_password(running)
        found.insert(0, CameraOption(source=running, name=f"In use now: {known}"))
    return tuple(found)


def field_options(fields: Iterable[FieldModel]) -> tuple[FieldOption, ...]:
    """Return printed fields to choose among."""
    return tuple(
        FieldOption(name=each.name, title=each.title, size_yd=(each.length_yd, each.width_yd)) for each in fields
    )


def camera_identity(source: str) -> str:
    """Return what identifies a camera, whatever port it is in: its identity, or its address without password."""
    if is_address(source):
        try:
            address = split_address(source)
        except ValueError:
            return without_password(source)
        return without_password(f"{address.scheme}://{address.place}{address.target}")
    return next((camera.identity for camera in match_camera(source, list_cameras())), source)


@dataclass(frozen=True, slots=True)
class TableFolder:
    """The saved tables of a rig."""

    folder: Path  # where their files are; it need not exist yet

    def profiles(self) -> tuple[TableProfile, ...]:
        """Return every table, the latest first; files that can't be read are left out."""
        found: list[TableProfile] = []
        for path in reversed(by_date(self._files())):
            with suppress(DownfieldError, OSError):
                found.append(read_record(TableProfile, path))
        return tuple(found)

    def listed(self) -> tuple[SavedTable, ...]:
        """Return every table as the set-up shows it, the latest first."""
        in_use = self.in_use()
        return tuple(
            SavedTable(
                name=profile.name,
                field=profile.calibration.field.title,
                camera=profile.camera,
                in_use=in_use is not None and in_use.id == profile.id,
            )
            for profile in self.profiles()
        )

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob(f"*{SUFFIX}")) if self.folder.is_dir() else []

    def get(self, name: str) -> TableProfile:
        """Return a table by its name. Raises NotFoundError: there is none; lists the names there are."""
        profiles = self.profiles()
        for profile in profiles:
            if profile.id == table_id(name):
                return profile
        names = ", ".join(profile.name for profile in profiles) or "none is saved yet"
        raise NotFoundError(f"There is no table '{name}'. Saved tables: {names}.")

    def save(self, profile: TableProfile) -> Path:
        """Save a table, in place of one with the same name, and use it from now on; return its file.

        It is for its owner only: the address of a stream may have a password. Raises OutputError: it can't be written.
        """
        path = self.folder / f"{profile.id}{SUFFIX}"
        try:
            replace_private_file(path, f"{to_json(TableProfile, profile)}\n".encode())
            date_last(path, self._files())
        except OSError as error:
            raise OutputError(f"{path}: can't be written: {error.strerror}") from None
        self.use(profile.name)
        return path

    def use(self, name: str | None) -> None:
        """Have ``downfield run`` without a source open a table's camera; None for the bundled recording.

        Raises NotFoundError: there is no such table; OutputError: the choice can't be written.
        """
        write_text(self.folder / IN_USE, ["" if name is None else self.get(name).id, "\n"])

    def in_use(self) -> TableProfile | None:
        """Return the table in use; None if there is none."""
        try:
            return self.get(read_text(self.folder / IN_USE).strip())
        except DownfieldError:
            return None

    def remove(self, name: str) -> None:
        """Delete a table. Raises NotFoundError: there is none of that name; OutputError: its file can't be deleted."""
        path = self.folder / f"{self.get(name).id}{SUFFIX}"
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise OutputError(f"{path}: can't be deleted: {error.strerror}") from None

    def rename(self, name: str, new: str) -> None:
        """Give a table another name; the one in use stays in use.

        Raises:
            NotFoundError: there is none of that name.
            InputError: it can't be the name of a table, or another table has it.
            OutputError: the files can't be written.
        """
        table, in_use = self.get(name), self.in_use()
        renamed = replace(table, name=new.strip())
        if renamed.id != table.id and any(other.id == renamed.id for other in self.profiles()):
            raise InputError(f"Another table is called '{renamed.name}'. Choose another name.")
        self.save(renamed)
        if renamed.id != table.id:
            self.remove(table.name)
        if in_use is None or in_use.id != table.id:
            self.use(None if in_use is None else in_use.name)

    def recognize(self, source: str, image: Image) -> TableProfile | None:
        """Return the saved table that a picture shows; None if it shows none, or the camera was moved.

        A camera of this computer may be known by another name than when its table was set up, as it is in another port:
        its table is found by print and pose.
        """
        identity, size_px = camera_identity(source), (image.shape[1], image.shape[0])
        sized = [profile for profile in self.profiles() if profile.calibration.camera.lens.size_px == size_px]
        for profile in sorted(sized, key=lambda one: one.camera != identity):
            may_be_it = profile.camera == identity or not (is_address(identity) or is_address(profile.camera))
            if may_be_it and match_picture(image, profile.calibration).is_same_view:
                return profile
        return None
