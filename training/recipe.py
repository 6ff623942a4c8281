"""The training recipe, `recipe.toml`: the data sets of the bundled networks and their schedules."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt, ValidationError

from downfield.core.errors import InputError
from downfield.core.files.input_files import parse_toml, read_text
from downfield.twin.render.renderers import RendererName


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class TrainingSet(_Part):
    """One data set.

    Attributes:
        name: of its folder.
        renderer, seed, count, per_table, carriers, strewn, fallers: as `downfield twin dataset` takes them.
        share: of the frames that are learned from, against the other sets'.
        practice: whether only ball refiner and ball detector learn from it.
    """

    name: str
    renderer: RendererName
    seed: int
    count: PositiveInt
    per_table: PositiveInt
    share: PositiveFloat
    carriers: float = Field(default=0.0, ge=0, le=1)
    strewn: float = Field(default=0.0, ge=0, le=1)
    fallers: float = Field(default=0.0, ge=0, le=1)
    practice: bool = False


class Schedule(_Part):
    """Samples seen with the level learning rate, and in the finish after it."""

    level: PositiveInt
    finish: PositiveInt


CONTRIBUTED: Final = "contributed"
"""Folder of the set of contributed pictures, beside the recipe's own sets."""


class TrainingRecipe(_Part):
    """The whole recipe.

    Attributes:
        sets: data sets that are drawn.
        contributed_share: of the frames that the figure refiner learns from, of contributed pictures where there are
            any, against the other sets'.
        figure_detector, figure_refiner, ball_detector, ball_refiner: schedules of the networks.
    """

    sets: tuple[TrainingSet, ...]
    contributed_share: PositiveFloat = 0.25
    figure_detector: Schedule
    figure_refiner: Schedule
    ball_detector: Schedule
    ball_refiner: Schedule

    def sources(self, folder: Path, *, practice: bool = False, contributed: bool = False) -> list[tuple[Path, float]]:
        """Return the folders of the existing data sets, with their shares.

        Args:
            folder: that they are in.
            practice: those too that only ball refiner and ball detector learn from.
            contributed: the set of contributed pictures too, where it has training pictures.

        Raises:
            InputError: none is there.
        """
        found = self.drawn_sources(folder, practice=practice)
        if contributed:
            found += self.contributed_sources(folder)
        if not found:
            raise InputError(
                f"{folder}: none of the recipe's data sets are there. Make them with 'downfield train data'."
            )
        return found

    def drawn_sources(self, folder: Path, *, practice: bool = False) -> list[tuple[Path, float]]:
        """Return the folders of the twin's existing data sets, with their shares; arguments as of `sources`."""
        wanted = [each for each in self.sets if practice or not each.practice]
        return [(folder / each.name, each.share) for each in wanted if (folder / each.name / "images").is_dir()]

    def contributed_sources(self, folder: Path) -> list[tuple[Path, float]]:
        """Return the folder of the contributed pictures with its share, if it has training pictures."""
        real = folder / CONTRIBUTED
        return [(real, self.contributed_share)] if (real / "images" / "train").is_dir() else []


def read_recipe(path: Path | None = None) -> TrainingRecipe:
    """Read a recipe file; the bundled one for None.

    Raises:
        InputError: it can't be read, or a value is invalid; names the key.
    """
    bundled = files("downfield.training") / "recipe.toml"
    text = read_text(path) if path is not None else bundled.read_text(encoding="utf-8")
    name = str(path or "recipe.toml")
    try:
        return TrainingRecipe.model_validate(parse_toml(text, name))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{name}: {where}: {first['msg'].lower()}") from None
