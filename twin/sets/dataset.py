"""Training and evaluation sets: exact labels, made in parallel, resumable, independent of the number of workers.

    OUT/data.yaml                        for ultralytics: classes, keypoints, where the splits are
    OUT/images/SPLIT/000123.jpg
    OUT/labels/SPLIT/000123.txt          YOLO-pose labels
    OUT/truth/SPLIT/000020.jsonl         one line per picture of a table: a `Sample`
    OUT/SPLIT.recipe.json the recipe of the split

A table's truth file is written after its pictures, so a table with a truth file is finished and is not made again.
Pictures are a function of the recipe and their index alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Literal

import cv2

from downfield.core.errors import DownfieldError, InputError, OutputError
from downfield.core.files.input_files import read_lines, read_text
from downfield.core.records import check, check_format, from_json, read_record, record, to_json, write_text
from downfield.twin.randomization.deck import Split
from downfield.twin.render.renderers import RendererName
from downfield.twin.sets.labels import Sample, data_yaml, yolo_lines
from downfield.twin.sets.table_frames import CameraView, Picture, table_pictures

_JPEG_QUALITY = 95

Progress = Callable[[int, int], None]  # called with the number of finished pictures and the total


@record
class Recipe:
    """The settings of a split. Raises InputError: a value is out of its range."""

    split: Split  # training, validation or test
    seed: int = 0  # of all draws, 0 or more
    renderer: RendererName = "compositor"  # name of the renderer
    size_px: tuple[int, int] = (1920, 1080)  # width and height of the camera's picture, 64 or more
    scale: float = 1.0  # at which it is drawn, above 0 to 1: 0.5 gives half its width and height
    crop_px: int = 0  # side of the square parts cut out of it, 32 or more; 0 for whole pictures
    per_table: int = 4  # number of pictures of one table, 1 or more
    carriers: float = 0.0  # share of the figures that hold a ball of their own, 0..1
    strewn: float = 0.0  # share of them with a ball on the board beside them, 0..1 - `carriers`
    fallers: float = 0.0  # share of figures that lie, also near others, 0..1; 0 for a few isolated ones now and then
    image_format: Literal["jpg", "png"] = "jpg"  # of the pictures' files
    samples: int | None = None  # paths per pixel where they are traced; None for the tracer's own number
    format: Literal["downfield.dataset"] = "downfield.dataset"
    version: Literal[2] = 2

    def __post_init__(self) -> None:
        check(self.seed >= 0, InputError, f"the seed can't be negative ({self.seed})")
        check(min(self.size_px) >= 64, InputError, f"a picture is at least 64 px wide and high, not {self.size_px}")
        check(0 < self.scale <= 1, InputError, f"the scale must be above 0 and at most 1, not {self.scale:g}")
        smallest = int(min(self.size_px) * self.scale)
        check(
            self.crop_px == 0 or 32 <= self.crop_px <= smallest,
            InputError,
            f"the crop must be 0 (whole pictures) or 32..{smallest} px, not {self.crop_px}",
        )
        check(0 <= self.carriers <= 1, InputError, f"the share of carriers must be 0..1, not {self.carriers:g}")
        check(
            0 <= self.strewn <= 1 - self.carriers,
            InputError,
            f"the share of strewn balls must be 0..1 and leave room for the carriers', not {self.strewn:g}",
        )
        check(0 <= self.fallers <= 1, InputError, f"the share of fallers must be 0..1, not {self.fallers:g}")
        check(self.per_table > 0, InputError, f"there must be at least 1 picture of a table, not {self.per_table}")


def make_dataset(
    out: Path, recipe: Recipe, count: int, *, workers: int = 1, progress: Progress = lambda _done, _of: None
) -> None:
    """Make a split of a data set, or the missing part of it.

    Args:
        out: the data set's folder; several splits share one.
        count: number of pictures wanted in the split; existing ones beyond it are kept.

    Raises:
        InputError: an impossible count, or the split was started with another recipe.
        OutputError: the folder can't be written.
        DownfieldError: a renderer can't run.
    """
    check(count > 0, InputError, f"the count must be at least 1, not {count}")
    check(workers > 0, InputError, f"there must be at least 1 worker, not {workers}")
    _begin(out, recipe)
    tables = range(-(-count // recipe.per_table))
    wanted = {table: min(recipe.per_table, count - table * recipe.per_table) for table in tables}
    missing = {table: number for table, number in wanted.items() if _made(out, recipe, table) < number}
    done = count - sum(missing.values())
    progress(done, count)
    for number in _work(out, recipe, missing, workers):
        done += number
        progress(done, count)


def read_samples(out: Path, split: Split) -> Iterator[Sample]:
    """Yield a split's samples by index. Raises InputError: it has none; FormatError: names a line that is broken."""
    files = sorted((out / "truth" / split).glob("*.jsonl"))
    if not files:
        raise InputError(f"{out}: holds no finished pictures of the split '{split}'")
    recipe = _recipe_path(out, split)
    if recipe.exists():
        check_format(Recipe, read_text(recipe), path=str(recipe))
    for path in files:
        for line, text in read_lines(path):
            yield from_json(Sample, text, path=str(path), line=line)


def _begin(out: Path, recipe: Recipe) -> None:
    """Write the recipe, or check that it is the recipe the split was started with."""
    path = _recipe_path(out, recipe.split)
    if path.exists():
        begun = read_record(Recipe, path)
        for field in dataclasses.fields(Recipe):
            was, now = getattr(begun, field.name), getattr(recipe, field.name)
            check(
                was == now,
                InputError,
                f"{out}: the split '{recipe.split}' was started with {field.name} {was}, not {now}; "
                "use that value, or give another folder",
            )
        return
    write_text(out / "data.yaml", [data_yaml()])
    write_text(path, [to_json(Recipe, recipe), "\n"])


def _work(out: Path, recipe: Recipe, missing: dict[int, int], workers: int) -> Iterator[int]:
    """Make tables, and report the number of pictures of each."""
    if workers == 1 or len(missing) < 2:
        for table, number in missing.items():
            yield _make_table(out, recipe, table, number)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_use_one_thread) as pool:
        jobs = [pool.submit(_make_in_worker, out, recipe, table, number) for table, number in missing.items()]
        try:
            for job in as_completed(jobs):
                made = job.result()
                if isinstance(made, str):
                    raise DownfieldError(made)
                yield made
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _use_one_thread() -> None:
    cv2.setNumThreads(1)  # the processes share the cores among themselves


def _make_in_worker(out: Path, recipe: Recipe, table: int, number: int) -> int | str:
    """Make a table in another process; an error is returned as text, which can always be pickled."""
    try:
        return _make_table(out, recipe, table, number)
    except DownfieldError as error:
        return str(error)


def _make_table(out: Path, recipe: Recipe, table: int, number: int) -> int:
    view = CameraView(recipe.renderer, recipe.size_px, recipe.scale, recipe.crop_px, recipe.samples)
    which = [(i, table * recipe.per_table + i) for i in range(number)]
    lines = []
    practice = {"carriers": recipe.carriers, "strewn": recipe.strewn, "fallers": recipe.fallers}
    for picture in table_pictures(recipe.split, recipe.seed, table, which, view, **practice):
        sample = _write_picture(out, recipe, picture)
        lines.append(to_json(Sample, sample) + "\n")
    write_text(_truth_path(out, recipe, table), lines)
    return number


def _write_picture(out: Path, recipe: Recipe, picture: Picture) -> Sample:
    name = f"{picture.sample.index:06d}"
    image = f"images/{recipe.split}/{name}.{recipe.image_format}"
    height, width = picture.image.shape[:2]
    _, packed = cv2.imencode(f".{recipe.image_format}", picture.image, [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])
    path = out / image
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(packed.tobytes())
    except OSError as error:
        raise OutputError(f"{path}: can't be written: {error.strerror}") from None
    lines = yolo_lines(picture.sample.labels, (width, height))
    write_text(out / "labels" / recipe.split / f"{name}.txt", [line + "\n" for line in lines])
    return dataclasses.replace(picture.sample, image=image)


def _recipe_path(out: Path, split: Split) -> Path:
    return out / f"{split}.recipe.json"


def _truth_path(out: Path, recipe: Recipe, table: int) -> Path:
    return out / "truth" / recipe.split / f"{table:06d}.jsonl"


def _made(out: Path, recipe: Recipe, table: int) -> int:
    """Return the number of finished pictures of a table."""
    path = _truth_path(out, recipe, table)
    return sum(1 for _ in read_lines(path)) if path.exists() else 0
