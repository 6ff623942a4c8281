"""Checks the store that games will be kept in: it is opened and written as by a game, and left as it was."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final

from sqlalchemy import text
from sqlalchemy.engine import URL
from sqlalchemy.exc import SQLAlchemyError

from downfield.core.addresses import without_password
from downfield.core.errors import DownfieldError
from downfield.rig.configuration.settings import RigSettings, store_file
from downfield.rig.doctor.check_result import CheckResult
from downfield.store.database.engines import cause_of, create_writing_engine, parse_address, transaction

_REMEDY: Final = "Name a store that can be written in store.url, or another folder with data"


def check_store(settings: RigSettings) -> CheckResult:
    """Check whether games can be kept where the configuration says."""
    url = settings.store.url
    where = without_password(url) if url else str(store_file(settings))
    try:
        address = parse_address(url) if url else URL.create("sqlite", database=str(store_file(settings).absolute()))
        file = Path(str(address.database)) if address.drivername == "sqlite" else None
        if file is not None and not file.exists():
            return _new_store(file)
        engine = create_writing_engine(address)
    except DownfieldError as error:
        return CheckResult("store", "fault", str(error), _REMEDY)
    try:
        with transaction(engine) as connection:
            connection.execute(text("CREATE TABLE downfield_trial (number INTEGER)"))
            connection.execute(text("INSERT INTO downfield_trial VALUES (1)"))
            connection.execute(text("DROP TABLE downfield_trial"))
    except SQLAlchemyError as error:
        return CheckResult("store", "fault", f"{where}: can't be written: {cause_of(error)}", _REMEDY)
    except DownfieldError as error:
        return CheckResult("store", "fault", str(error), _REMEDY)
    finally:
        engine.dispose()
    return CheckResult("store", "ok", f"games are kept in {where}")


def _new_store(file: Path) -> CheckResult:
    """Check whether a store can be made, without making it."""
    folder = file.absolute().parent
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder) as trial:
            trial.write(b"trial")
    except OSError as error:
        return CheckResult("store", "fault", f"{file}: can't be made: {error.strerror}", _REMEDY)
    return CheckResult("store", "ok", f"{file} is made with the first game")
