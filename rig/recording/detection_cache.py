"""What a detector saw, kept in a file, so that work that was interrupted can go on without seeing it all again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Literal, TextIO

from downfield.core.arrays import Image
from downfield.core.errors import DownfieldError, OutputError
from downfield.core.frame import Detection
from downfield.core.json_lines import JsonLinesFile
from downfield.core.records import record, to_json
from downfield.models.detector import Detector, TrackingDetector


@record
class DetectionCacheHeader:
    """First line of the file: what was looked at, and by what.

    Attributes:
        source: name of the recording.
        stamp: tells one version of it from another.
        detector: its name.
        thorough: whether it looked at the figures of every frame.

    """

    source: str
    stamp: str
    detector: str
    thorough: bool = False
    format: Literal["downfield.seen"] = "downfield.seen"
    version: Literal[4] = 4


@record
class CachedDetections:
    """What was seen in one picture."""

    detections: tuple[Detection, ...]


class CachingDetector:
    """A detector that remembers: pictures it has been shown before, in the same order, it does not look at again.

    Args:
        detector: looks at all others.
        path: where it is kept; one that is of something else, or broken, is begun afresh.
        header: of what.

    Attributes:
        note: what was found there, for people; empty when nothing was.

    Raises:
        OutputError: the place can't be written.

    """

    def __init__(self, detector: Detector, path: Path, header: DetectionCacheHeader) -> None:
        self._detector, self._path = detector, path
        self.note = ""
        before = self._read(header) if path.exists() else []
        self._before = iter(before)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Written anew: an interruption may have torn the last line.
            self._file: TextIO = path.open("w", encoding="utf-8")
        except OSError as error:
            raise OutputError(f"{path}: can't be written: {error.strerror}") from None
        self._write(to_json(DetectionCacheHeader, header))
        for one in before:
            self._write(to_json(CachedDetections, one, defaults=False))

    def __enter__(self) -> CachingDetector:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    @property
    def name(self) -> str:
        """The detector's."""
        return self._detector.name

    def detect(self, image: Image) -> tuple[Detection, ...]:
        """What is in the next picture."""
        return self._known(lambda: self._detector.detect(image))

    def detect_raw(self, image: Image) -> tuple[Detection, ...]:
        """What is in the next picture, every base as it looks."""
        detector = self._detector
        return (
            self._known(lambda: detector.detect_raw(image))
            if isinstance(detector, TrackingDetector)
            else self.detect(image)
        )

    def find_candidates(self, image: Image, *, ball: bool = True) -> tuple[Detection, ...]:
        """What is in the next picture, roughly."""
        detector = self._detector
        return (
            self._known(lambda: detector.find_candidates(image, ball=ball))
            if isinstance(detector, TrackingDetector)
            else ()
        )

    def refine_candidates(
        self, image: Image, found: Sequence[Detection], seen: Sequence[Detection]
    ) -> tuple[Detection, ...]:
        """What a closer look makes of what was found in the next picture."""
        detector = self._detector
        return (
            self._known(lambda: detector.refine_candidates(image, found, seen))
            if isinstance(detector, TrackingDetector)
            else ()
        )

    def track(
        self, image: Image, seen: Sequence[Detection], found: Sequence[Detection] | None = None
    ) -> tuple[Detection, ...]:
        """What was seen a moment ago, as it is in the next picture; everything in it, where the detector can't."""
        detector = self._detector
        if not isinstance(detector, TrackingDetector):
            return self.detect(image)
        return self._known(lambda: detector.track(image, seen, found))

    def forget(self) -> None:
        """The work is done: remove the file."""
        self._file.close()
        self._path.unlink(missing_ok=True)

    def _known(self, look: Callable[[], tuple[Detection, ...]]) -> tuple[Detection, ...]:
        """What is in the next picture: kept from before, or looked for now and kept."""
        kept = next(self._before, None)
        if kept is not None:
            return kept.detections
        found = look()
        self._write(to_json(CachedDetections, CachedDetections(found), defaults=False))
        return found

    def _read(self, header: DetectionCacheHeader) -> list[CachedDetections]:
        out: list[CachedDetections] = []
        try:
            lines = JsonLinesFile(self._path, DetectionCacheHeader, CachedDetections)
            if lines.header != header:
                self.note = f"begun afresh: {self._path.name} is of another recording or network"
                return []
            for one in lines:
                out.append(one)  # noqa: PERF402 - what comes before a torn line counts
        except DownfieldError:
            pass
        self.note = f"going on after {len(out)} frames that were seen before" if out else ""
        return out

    def _write(self, line: str) -> None:
        try:
            self._file.write(line + "\n")
            self._file.flush()
        except OSError as error:
            raise OutputError(f"{self._path}: can't be written: {error.strerror}") from None
