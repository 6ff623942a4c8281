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

import cv2

from downfield.core.arrays import Image
from downfield.core.errors import DownfieldError, InputError, OutputError
from downfield.core.files.input_files import read_lines, read_text
from downfield.core.records import check, check_format, from_json, read_record, to_json, write_text
from downfield.twin.randomization.deck import Split
from downfield.twin.sets.labels import Sample, data_yaml, yolo_lines
from downfield.twin.sets.table_frames import Recipe, table_pictures

_JPEG_QUALITY = 95

Progress = Callable[[int, int], None]  # called with the number of finished pictures and the total


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
    # The processes share the cores among themselves: one thread each.
    with ProcessPoolExecutor(
        workers, mp_context=get_context("spawn"), initializer=cv2.setNumThreads, initargs=(1,)
    ) as pool:
        jobs = [pool.submit(_make_in_worker, out, recipe, table, number) for table, number in missing.items()]
        try:
            for job in as_completed(jobs):
                made = job.result()
                if isinstance(made, str):
                    raise DownfieldError(made)
                yield made
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _make_in_worker(out: Path, recipe: Recipe, table: int, number: int) -> int | str:
    """Make a table in another process; an error is returned as text, which can always be pickled."""
    try:
        return _make_table(out, recipe, table, number)
    except DownfieldError as error:
        return str(error)


def _make_table(out: Path, recipe: Recipe, table: int, number: int) -> int:
    lines = []
    for image, sample in table_pictures(recipe, table, number):
        lines.append(to_json(Sample, _write_picture(out, recipe, image, sample)) + "\n")
    write_text(_truth_path(out, recipe, table), lines)
    return number


def _write_picture(out: Path, recipe: Recipe, image: Image, sample: Sample) -> Sample:
    name = f"{sample.index:06d}"
    place = f"images/{recipe.split}/{name}.{recipe.image_format}"
    _, packed = cv2.imencode(f".{recipe.image_format}", image, [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])
    path = out / place
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(packed.tobytes())
    except OSError as error:
        raise OutputError(f"{path}: can't be written: {error.strerror}") from None
    lines = yolo_lines(sample.labels, (image.shape[1], image.shape[0]))
    write_text(out / "labels" / recipe.split / f"{name}.txt", [line + "\n" for line in lines])
    return dataclasses.replace(sample, image=place)


def _recipe_path(out: Path, split: Split) -> Path:
    return out / f"{split}.recipe.json"


def _truth_path(out: Path, recipe: Recipe, table: int) -> Path:
    return out / "truth" / recipe.split / f"{table:06d}.jsonl"


def _made(out: Path, recipe: Recipe, table: int) -> int:
    path = _truth_path(out, recipe, table)
    return sum(1 for _ in read_lines(path)) if path.exists() else 0
