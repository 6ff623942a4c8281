"""A trained network on disk: a folder with its card, `network.json`, and the ONNX files that the card names."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Final, Literal, get_args

from downfield.core.errors import InputError
from downfield.core.frame import DetectionKind
from downfield.core.records import check, read_record, record, to_json, write_text

CARD: Final = "network.json"
BUNDLED: Final = "downfield"  # the network that comes with the package
KINDS: Final[tuple[DetectionKind, ...]] = get_args(DetectionKind)  # the detector's classes, in the order of its outputs


@record
class NetworkFiles:
    """The files of one stage."""

    fp32: str  # ONNX file in full precision, beside the card
    int8: str | None = None  # the same quantized, where there is one
    # factor from the spread it predicts to the standard deviation measured on validation pictures
    sigma_scale: float = 1.0


@record
class NetworkCard:
    """What the runtime needs to know about a network.

    Raises:
        InputError: a threshold or size is out of range, or thresholds are missing.
    """

    name: str  # name of the network
    detector: NetworkFiles  # over the whole frame
    refiner: NetworkFiles | None = None  # over one figure's patch; None if there is none
    # whether the refiner gives the ball's cells after its own numbers; else the ball is found by the detector alone
    refiner_sees_ball: bool = False
    input_px: tuple[int, int] = (960, 544)  # width and height of the detector's input
    # scores from which an upright figure, a fallen figure, a ball and a hand are detected
    thresholds: tuple[float, ...] = (0.3, 0.3, 0.3, 0.3)
    figure_threshold: float = 0.5  # score, by both stages, from which a figure is reported
    ball_threshold: float = 0.5  # the same for the ball
    # slope and intercept that turn the mean of the detector's and the refiner's logit of a ball into log-odds
    ball_odds: tuple[float, float] = (1.0, 0.0)
    # the refiner's logit of facing the other way must exceed this to overrule the detector, which is seldom wrong
    turn_logit: float = 0.0
    fallen_logit: float = 0.0  # the refiner's logit of having fallen must exceed this
    front_odds: float = 1.0  # log-odds that a front is right per unit of its logit, measured on validation pictures
    about: str = ""  # training data and further notes, for people
    format: Literal["downfield.network"] = "downfield.network"
    version: Literal[1] = 1

    def __post_init__(self) -> None:
        check(
            len(self.thresholds) == len(KINDS),
            InputError,
            f"The network card has {len(self.thresholds)} thresholds; {len(KINDS)} are needed: {', '.join(KINDS)}.",
        )
        check(self.refiner is not None or not self.refiner_sees_ball, InputError, "refiner_sees_ball needs a refiner.")
        scores = (*self.thresholds, self.figure_threshold, self.ball_threshold)
        check(all(0 < value < 1 for value in scores), InputError, "Thresholds must be between 0 and 1.")
        check(self.ball_odds[0] > 0, InputError, f"The slope of ball_odds must be above 0, not {self.ball_odds[0]}.")
        check(self.front_odds > 0, InputError, f"front_odds must be above 0, not {self.front_odds}.")
        check(min(self.input_px) > 0, InputError, f"input_px must be above 0, not {self.input_px}.")


def named_files(card: NetworkCard) -> tuple[str, ...]:
    """Return the files that a card names, as paths from its folder; a network may use files of another's folder."""
    stages = (card.detector, card.refiner)
    return tuple(file for stage in stages if stage is not None for file in (stage.fp32, stage.int8) if file is not None)


def bundled_networks() -> tuple[str, ...]:
    """Return the names of the networks that come with the package."""
    where = Path(str(files("downfield.models"))) / "weights"
    return tuple(sorted(card.parent.name for card in where.glob(f"*/{CARD}")))


def find_network(name_or_path: str | Path) -> Path:
    """Return the folder of a network.

    Args:
        name_or_path: of a bundled network, or a folder with a card, or the card itself.

    Raises:
        InputError: there is no network of that name, or no card in the folder.
    """
    if str(name_or_path) in bundled_networks():
        return Path(str(files("downfield.models"))) / "weights" / str(name_or_path)
    path = Path(name_or_path)
    folder = path.parent if path.name == CARD else path
    if not (folder / CARD).is_file():
        shipped = ", ".join(bundled_networks()) or "none"
        raise InputError(
            f"{name_or_path}: no network there. Give a folder with a {CARD}, or a bundled network ({shipped})."
        )
    return folder


def read_card(folder: Path) -> NetworkCard:
    """Read the card of a network's folder.

    Raises:
        InputError: it can't be read.
        FormatError: its content breaks the format; names the field.
    """
    return read_record(NetworkCard, folder / CARD)


def write_card(folder: Path, card: NetworkCard) -> None:
    """Write the card of a network's folder atomically. Raises OutputError: the place can't be written."""
    write_text(folder / CARD, [to_json(NetworkCard, card), "\n"])
