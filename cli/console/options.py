"""Options that several commands share, and checks before long work begins: what would be overwritten, and with what."""

from __future__ import annotations

import glob
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import combinations
from pathlib import Path
from typing import Annotated, Final

import cv2
import typer

from downfield.cli.console.output import SHARED, check_writable, print_stdout
from downfield.core.errors import DownfieldError, InputError, OutputError
from downfield.core.field.model import preset_names
from downfield.officiating.rulebooks.installed import installed_rulebooks

_HEAD_BYTES: Final = 1 << 20
"""Bytes of a file that are read to tell its format; the first line of tracks, and a calibration, are far shorter."""

VIDEO: Final = "a video"
PICTURE: Final = "a picture"
ARCHIVE: Final = "a bundle or another zip file"
_DATABASE: Final = "a database"

_MARKS: Final = (
    (4, b"ftyp", VIDEO),
    (0, b"\x1a\x45\xdf\xa3", VIDEO),
    (8, b"AVI ", VIDEO),
    (0, b"\x89PNG", PICTURE),
    (0, b"\xff\xd8\xff", PICTURE),
    (0, b"GIF8", PICTURE),
    (8, b"WEBP", PICTURE),
    (0, b"PK\x03\x04", ARCHIVE),
    (0, b"SQLite format 3\0", _DATABASE),
)
"""Place and bytes by which a file is known."""

_BY_SUFFIX: Final = {
    **dict.fromkeys((".mp4", ".mkv", ".avi", ".mov", ".webm"), VIDEO),
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp", ".gif"), PICTURE),
    ".zip": ARCHIVE,
}


def check_replaced(output: Path, kind: str = "") -> None:
    """Refuse to write over a file that holds something else than what is to be written, by an InputError.

    Args:
        kind: the format to write, such as ``downfield.calls``, or `ARCHIVE`; empty where the name tells it.
    """
    found = _content_of(output)
    expected = kind or _BY_SUFFIX.get(output.suffix.lower(), ARCHIVE)
    if found and found != expected:
        what = f"a file of the format {found}" if found.startswith("downfield.") else found
        raise InputError(f"{output}: is {what}, which would be lost. Choose another name.")


def _content_of(path: Path) -> str:
    """Return what a file holds; empty where it does not exist, is empty, or is nothing that is known."""
    head = b""
    with suppress(OSError), path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    known = next((kind for at, mark, kind in _MARKS if head[at : at + len(mark)] == mark), "")
    return known or _record_format(head)


def _record_format(head: bytes) -> str:
    """Return the format of a file of Downfield's own, by its first line or, where it has several, all of it."""
    for text in (head.split(b"\n", 1)[0], head):
        with suppress(ValueError, RecursionError):
            content = json.loads(text)
            found = content.get("format") if isinstance(content, dict) else None
            return found if isinstance(found, str) and found.startswith("downfield.") else ""
    return ""


ConfigOption = Annotated[
    Path | None, typer.Option("--config", help="The configuration file. Default: downfield.toml in the current folder.")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="SECTION.KEY=VALUE", help="A setting that overrides the file; may be repeated."),
]

PortOption = Annotated[int | None, typer.Option(min=0, max=65535, help="Port of the web pages and the API.")]
LanOption = Annotated[
    bool | None, typer.Option("--lan", help="Let phones and other computers in the network use the web pages.")
]
TlsOption = Annotated[
    bool | None, typer.Option("--tls", help="Serve them with TLS, by a certificate made here unless one is set.")
]

_PICTURES: Final = frozenset({".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp", ".gif", ".heic", ".heif"})
_VIDEOS: Final = frozenset({".mp4", ".mkv", ".avi", ".mov", ".webm"})


def number_between(low: float, high: float) -> Callable[[object], float]:
    """Return a parser of an option's number; typer's own bounds let NaN pass, and its numbers infinity."""

    def parse(text: object) -> float:
        try:
            value = float(str(text))
        except ValueError:
            raise typer.BadParameter(f"'{text}' is not a number.") from None
        if not low <= value <= high:
            raise typer.BadParameter(f"{text} is not between {low:g} and {high:g}.")
        return value

    return parse


def completing(names: Callable[[], Iterable[str]], ending: str = ".toml") -> Callable[[str], list[str]]:
    """Return what a shell completes names by, and the files of an ending that may stand in their place."""

    def complete(incomplete: str) -> list[str]:
        found = glob.glob(f"{glob.escape(incomplete)}*{ending}") if incomplete else []  # noqa: PTH207 - as typed
        with suppress(DownfieldError):  # a shell has no place for an error
            found.extend(name for name in names() if name.startswith(incomplete))
        return found

    return complete


def _games() -> Iterator[str]:
    from downfield.rig.configuration.loading import load
    from downfield.rig.configuration.settings import store_file
    from downfield.store.database.opening import open_for_reading

    yield "last"
    settings = load(None).settings
    with open_for_reading(settings.store.url or str(store_file(settings))) as opened:
        yield from (row.id for row in opened.store.games())


def _sources() -> Iterator[str]:
    from downfield.capture.sources.camera_system import list_cameras

    for camera in list_cameras():
        yield from (camera.identity, camera.address)


def _networks() -> tuple[str, ...]:
    from downfield.models.card import bundled_networks

    return bundled_networks()


complete_games: Final = completing(_games, ".db")
complete_sources: Final = completing(_sources, "")
complete_networks: Final = completing(_networks, "")

GameArgument = Annotated[
    str,
    typer.Argument(
        help="The game's id, as the list of games shows it; 'last' for the last.", autocompletion=complete_games
    ),
]


BOOK: Final = typer.Option(
    help="An installed rulebook, or a league's .toml file.", autocompletion=completing(installed_rulebooks)
)
FIELD: Final = typer.Option(
    "--field", help="The printed field: a preset's name or a .toml file.", autocompletion=completing(preset_names)
)

JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]

_seconds = number_between(0.0, float("inf"))
StartOption = Annotated[
    float, typer.Option("--start", parser=_seconds, metavar="S", help="Begin so many seconds into the recording.")
]
EndOption = Annotated[
    float, typer.Option("--end", parser=_seconds, metavar="S", help="End so many seconds into the recording.")
]

CameraHeightOption = Annotated[
    float | None,
    typer.Option(
        "--camera-height",
        parser=number_between(100, 5000),
        metavar="MM",
        help="Height of the lens over the board, mm, measured with a tape.",
    ),
]

StandingOption = Annotated[
    str | None,
    typer.Option(
        "--standing",
        metavar="ENDS",
        help="A card, ruler or figure of known height that stands upright on the board, far from below the camera: its"
        " foot and its top in the picture and its height, PX,PY=PX,PY=MM. It tells the camera's height where no tape"
        " reaches (--camera-height).",
    ),
]


PIPE: Final = Path("-")
"""Stands for standard input or output."""


@contextmanager
def written_output(path: Path) -> Iterator[Path]:
    """Provide the file to write for an output, which for ``-`` is printed once it is whole."""
    if path != PIPE:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="downfield-") as folder:
        yield Path(folder) / "out"
        with (Path(folder) / "out").open(encoding="utf-8") as written:
            for line in written:
                print_stdout(line.rstrip("\n"))


@contextmanager
def read_input(path: Path) -> Iterator[Path]:
    """Provide the file to read for an input, which for ``-`` is what standard input holds."""
    if path != PIPE:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="downfield-") as folder:
        copy = Path(folder) / "standard input"
        with copy.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield copy


def check_outputs(
    *outputs: Path | None,
    inputs: Iterable[Path | None],
    picture: Path | None = None,
    kind: str = "",
    in_place: bool = False,
) -> None:
    """Check, before long work begins, that every file can be written and overwrites nothing but an older result.

    An older result is overwritten where the command was told to (`--overwrite`).

    Args:
        outputs: files to write; None for one that is not wanted.
        picture: a further file to write, in the format of its name.
        kind: the format of the outputs, such as ``downfield.calls``; empty where their names tell it.
        in_place: whether the outputs are files that the command is to change, or renews each time.

    Raises:
        InputError: a file to write is a folder or a device, is read, holds something else, exists and is not to be
            overwritten, lies among pictures that are read, or is named twice.
        OutputError: a file can't be written, or a picture has an unknown format.
    """
    written = [output for output in (*outputs, picture) if output is not None and output != PIPE]
    read = [path for path in inputs if path is not None]
    for output in written:
        _check_name(output)
        if output.is_dir():
            raise InputError(f"{output}: is a folder. Give the name of the file to write.")
        if output.exists() and not output.is_file():
            raise InputError(f"{output}: is a device, not a file. Give the name of the file to write.")
        if any(_is_same(output, path) for path in read):
            raise InputError(f"{output}: this file is read, so it can't be written too. Choose another name.")
        if output.exists() and any(_is_within(output, path) for path in read):
            raise InputError(f"{output}: this file is in a folder that is read. Choose another name.")
        check_replaced(output, "" if output is picture else kind)
        check_writable(output)
        if output.exists() and not (SHARED.overwrite or in_place):
            raise InputError(f"{output}: exists already. Add --overwrite to replace it, or choose another name.")
    for first, second in combinations(written, 2):
        if _is_same(first, second):
            raise InputError(f"{second}: two results can't be written to one file. Choose another name for one.")
    if picture is not None and not _is_picture_name(picture):
        raise OutputError(f"{picture}: unknown picture format. End the name in .png or .jpg.")


def check_data_name(output: Path) -> None:
    """Refuse the name of a picture or a video for data, by an InputError: it was meant to be read, or would be lost."""
    if output.suffix.lower() in _PICTURES | _VIDEOS:
        raise InputError(f"{output}: is named like a picture or a video. End its name in .json.")


def _check_name(path: Path) -> None:
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise OutputError(f"{path}: can't be written: {error.strerror}") from None
    except ValueError:
        raise OutputError(f"{path}: can't be written: no file has such a name") from None


def _is_same(one: Path, other: Path) -> bool:
    """Return whether two paths lead to the same file, by whatever links."""
    with suppress(OSError, ValueError):  # one of them does not exist
        return one.samefile(other)
    with suppress(OSError, ValueError, RuntimeError):  # a link that leads to itself
        return one.resolve() == other.resolve()
    return False


def _is_within(file: Path, folder: Path) -> bool:
    """Return whether a file lies directly in a folder; False where that is none."""
    with suppress(OSError, ValueError, RuntimeError):
        return folder.is_dir() and file.resolve().parent == folder.resolve()
    return False


def _is_picture_name(path: Path) -> bool:
    try:
        return cv2.haveImageWriter(path.name)
    except cv2.error:
        return False
