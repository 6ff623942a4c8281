"""A cache of detections in a file, so that interrupted work continues without running the detector again."""

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
    """First line of the file: which recording was processed, and by which detector."""

    source: str  # name of the recording
    source_version: str  # differs between versions of the recording
    detector: str  # name of the detector
    thorough: bool = False  # whether the detector was run on the figures of every frame
    format: Literal["downfield.detections"] = "downfield.detections"
    version: Literal[1] = 1


@record
class CachedDetections:
    """The result of one call of the detector."""

    detections: tuple[Detection, ...]


class CachingDetector:
    """A detector that returns cached results for pictures it was given before, in the same order.

    Args:
        path: the cache file; it is replaced if it has another header or is malformed.

    Raises:
        OutputError: the file can't be written.
    """

    def __init__(self, detector: Detector, path: Path, header: DetectionCacheHeader) -> None:
        self._detector, self._path = detector, path
        self._tracking = detector if isinstance(detector, TrackingDetector) else None
        self.note = ""  # on the content of the file, a sentence for people; empty if there was none
        cached = self._read(header) if path.exists() else []
        self._cached = iter(cached)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Written again from the start: an interruption may have cut off the last line.
            self._file: TextIO = path.open("w", encoding="utf-8")
        except OSError as error:
            raise OutputError(f"{path}: can't be written: {error.strerror}") from None
        self._write(to_json(DetectionCacheHeader, header))
        for result in cached:
            self._write(to_json(CachedDetections, result, defaults=False))

    def __enter__(self) -> CachingDetector:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    @property
    def name(self) -> str:
        """The detector's name."""
        return self._detector.name

    def detect(self, image: Image) -> tuple[Detection, ...]:
        """See `Detector.detect`."""
        return self._cached_or(lambda: self._detector.detect(image))

    def detect_raw(self, image: Image) -> tuple[Detection, ...]:
        """See `TrackingDetector.detect_raw`; without that, the same as `detect`."""
        detector = self._tracking
        return self.detect(image) if detector is None else self._cached_or(lambda: detector.detect_raw(image))

    def find_candidates(self, image: Image, *, ball: bool = True) -> tuple[Detection, ...]:
        """See `TrackingDetector.find_candidates`; without that, nothing is found."""
        detector = self._tracking
        if detector is None:
            return ()
        return self._cached_or(lambda: detector.find_candidates(image, ball=ball))

    def refine_candidates(
        self, image: Image, found: Sequence[Detection], seen: Sequence[Detection]
    ) -> tuple[Detection, ...]:
        """See `TrackingDetector.refine_candidates`; without that, nothing is found."""
        detector = self._tracking
        return () if detector is None else self._cached_or(lambda: detector.refine_candidates(image, found, seen))

    def track(
        self, image: Image, seen: Sequence[Detection], found: Sequence[Detection] | None = None
    ) -> tuple[Detection, ...]:
        """See `TrackingDetector.track`; without that, the same as `detect`."""
        detector = self._tracking
        return self.detect(image) if detector is None else self._cached_or(lambda: detector.track(image, seen, found))

    def delete(self) -> None:
        """Delete the file, after the work is done."""
        self._file.close()
        self._path.unlink(missing_ok=True)

    def _cached_or(self, run: Callable[[], tuple[Detection, ...]]) -> tuple[Detection, ...]:
        """Return the next cached result; if there is none, run the detector and cache its result."""
        cached = next(self._cached, None)
        if cached is not None:
            return cached.detections
        detections = run()
        self._write(to_json(CachedDetections, CachedDetections(detections), defaults=False))
        return detections

    def _read(self, header: DetectionCacheHeader) -> list[CachedDetections]:
        results: list[CachedDetections] = []
        try:
            lines = JsonLinesFile(self._path, DetectionCacheHeader, CachedDetections)
            if lines.header != header:
                self.note = f"Starting from the beginning: {self._path.name} belongs to another recording or network."
                return []
            for result in lines:
                results.append(result)  # noqa: PERF402 - what comes before a cut-off line counts
        except DownfieldError:
            pass
        self.note = f"Continuing after {len(results)} frames that were processed before." if results else ""
        return results

    def _write(self, line: str) -> None:
        try:
            self._file.write(line + "\n")
            self._file.flush()
        except OSError as error:
            raise OutputError(f"{self._path}: can't be written: {error.strerror}") from None
