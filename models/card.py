"""A trained network on disk: a folder with its card, `network.json`, and the ONNX files that the card names."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Final, Literal, get_args

from downfield.core.errors import InputError
from downfield.core.frame import DetectionKind
from downfield.core.records import check, read_record, record, to_json, write_text

CARD: Final = "network.json"
BUNDLED: Final = "downfield"
"""The network that comes with the package."""

KINDS: Final[tuple[DetectionKind, ...]] = get_args(DetectionKind)
"""The first look's classes, in the order of its outputs."""


@record
class NetworkFiles:
    """One of a network's parts.

    Attributes:
        fp32: ONNX file in full precision, beside the card.
        int8: the same quantized, where there is one.
        sigma_scale: what the spread it says is to be multiplied by to be the standard deviation measured on validation
            pictures.

    """

    fp32: str
    int8: str | None = None
    sigma_scale: float = 1.0


@record
class NetworkCard:
    """What the runtime must know of a network.

    Attributes:
        name: of the network.
        first_look: finds everything in a whole frame.
        second_look: looks at each figure again; None where there is none.
        ball_look: says in place of the first look where balls may lie; None where there is none.
        close_look: tells which of them is the ball, and sees it in an arm; None where there is none.
        input_px: width and height of what the first look takes.
        thresholds: score from which the first look reports something upright, fallen, a ball, a hand; of a ball that
            of the ball look, where there is one.
        figure_threshold: score, by both looks, from which a figure is believed in.
        ball_threshold: score, by the looks that see the ball, from which it is.
        ball_px: width and height of what the ball look takes.
        ball_odds: slope and intercept that make the ball look's logit the log-odds of being right.
        turn_logit: what the second look's logit of a figure facing the other way must exceed for the first look, which
            is seldom wrong, to be overruled.
        fallen_logit: what the second look's logit of a figure having fallen must exceed.
        about: what it was trained on, for people.

    Raises:
        InputError: a threshold that can't be reached, or too few of them.

    """

    name: str
    first_look: NetworkFiles
    second_look: NetworkFiles | None = None
    ball_look: NetworkFiles | None = None
    close_look: NetworkFiles | None = None
    input_px: tuple[int, int] = (960, 544)
    thresholds: tuple[float, ...] = (0.3, 0.3, 0.3, 0.3)
    figure_threshold: float = 0.5
    ball_threshold: float = 0.5
    ball_px: tuple[int, int] = (1280, 720)
    ball_odds: tuple[float, float] = (1.0, 0.0)
    turn_logit: float = 0.0
    fallen_logit: float = 0.0
    about: str = ""
    format: Literal["downfield.network"] = "downfield.network"
    version: Literal[1] = 1

    def __post_init__(self) -> None:
        check(len(self.thresholds) == len(KINDS), InputError, f"thresholds must be {len(KINDS)}: {', '.join(KINDS)}")
        check(
            all(0 < value < 1 for value in (*self.thresholds, self.figure_threshold, self.ball_threshold)),
            InputError,
            "thresholds must be between 0 and 1",
        )
        for name, size in (("input_px", self.input_px), ("ball_px", self.ball_px)):
            check(min(size) > 0, InputError, f"{name} must be above 0, not {size}")


def bundled_networks() -> tuple[str, ...]:
    """Names of the networks that come with the package."""
    where = Path(str(files("downfield.models"))) / "weights"
    return tuple(sorted(card.parent.name for card in where.glob(f"*/{CARD}")))


def find_network(name_or_path: str | Path) -> Path:
    """The folder of a network.

    Args:
        name_or_path: of a bundled network, or a folder with a card, or the card itself.

    Raises:
        InputError: there is none.

    """
    if str(name_or_path) in bundled_networks():
        return Path(str(files("downfield.models"))) / "weights" / str(name_or_path)
    path = Path(name_or_path)
    folder = path.parent if path.name == CARD else path
    if not (folder / CARD).is_file():
        shipped = ", ".join(bundled_networks()) or "none"
        raise InputError(f"{name_or_path}: no network there: give a folder with a {CARD}, or a bundled one ({shipped})")
    return folder


def read_card(folder: Path) -> NetworkCard:
    """The card of a network's folder.

    Raises:
        InputError: it can't be read.
        FormatError: its content breaks the format; names the field.

    """
    path = folder / CARD
    return read_record(NetworkCard, path)


def write_card(folder: Path, card: NetworkCard) -> None:
    """Write the card of a network's folder, whole or not at all.

    Raises:
        OutputError: the place can't be written.

    """
    write_text(folder / CARD, [to_json(NetworkCard, card), "\n"])
