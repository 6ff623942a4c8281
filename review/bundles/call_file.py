"""One call as a signed file: its ruling sheet, its pictures and what was measured on them, checked as a bundle is."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from downfield.calibration.calibration import Calibration
from downfield.core.errors import FormatError, NotRecordedError
from downfield.core.records import to_json
from downfield.core.scene import Scene
from downfield.core.track_files import TracksHeader
from downfield.game.published.game_topics import CallView
from downfield.game.records.challenges import DECISION_WORDS, ChallengeView
from downfield.game.records.keeping import GameRow
from downfield.review.bundles import format as names
from downfield.review.bundles.format import signed_chunks
from downfield.review.evidence.call_viewer import CallViewer
from downfield.review.evidence.evidence import Evidence
from downfield.review.rejudging.finished_games import challenges_of
from downfield.review.reports.markup import Markup, document, figure, paragraph, section, table
from downfield.review.zip_container import ZipPart
from downfield.store.history import History
from downfield.store.sealing.signing import RigKey

CALL, RULING = "call/call.json", "call/ruling.html"

EITHER_SIDE_S: Final = 0.4  # Pictures so long before and after the call go into its file

_ABOUT: Final = """One call of a game of tabletop electric football, as its automatic referee, Downfield, made it.

call/ruling.html  the ruling sheet: open it in a browser
call/NUMBER.jpg   the pictures as the camera took them, by the number of the frame
the other files   what was measured on them, for programs

Check that nothing was changed:  downfield verify FILE.zip
"""


@dataclass(frozen=True, slots=True)
class CallFile:
    """What the file of a call is made of."""

    history: History
    call: CallView
    viewer: CallViewer  # shows its pictures
    key: RigKey  # the rig's, which signs the file

    @property
    def name(self) -> str:
        """The file's name."""
        kind, _, rest = self.call.id.partition(":")
        return f"{self.history.row.id}.{kind}-{rest.partition(':')[0]}{names.SUFFIX}"

    def chunks(self) -> Iterator[bytes]:
        """Yield the bytes of the file. Raises BusyError: too many requests for pictures wait already."""
        notes: list[str] = []
        evidence: Evidence | None = None
        try:
            evidence = self.viewer.opened(self.history.row, self.call.id, EITHER_SIDE_S)
        except NotRecordedError as error:
            notes.append(f"no pictures: {error}")
        yield from signed_chunks(self.history, self.key, self._contents(evidence, notes), notes)

    def _contents(self, evidence: Evidence | None, notes: list[str]) -> Iterator[ZipPart]:
        row, started = self.history.row, self.history.started
        if started is None:
            raise FormatError(f"game {row.id}", "its journal does not start with the start of the game")
        yield ZipPart(names.ABOUT, [_ABOUT.encode()])
        yield ZipPart(RULING, [self._ruling_sheet(evidence).encode()])
        yield ZipPart(CALL, [self.call.model_dump_json().encode() + b"\n"])
        if evidence is None:
            return
        calibration = self.viewer.calibration(evidence)
        if calibration is not None:
            yield ZipPart(names.CALIBRATION, [to_json(Calibration, calibration).encode() + b"\n"])
        stills = evidence.around(EITHER_SIDE_S)
        header = TracksHeader(started.field, evidence.players, _rate(evidence), f"game {row.id}, call {self.call.id}")
        scenes = [scene for still in stills if (scene := evidence.scenes.get(still.t_ns)) is not None]
        lines = [to_json(TracksHeader, header), *(to_json(Scene, scene, defaults=False) for scene in scenes)]
        yield ZipPart(names.TRACKS, [f"{line}\n".encode() for line in lines])
        for still in stills:
            try:
                picture = self.viewer.jpeg(row, self.call.id, still.frame, plain=True)
            except NotRecordedError as error:
                notes.append(f"frame {still.frame}: {error}")
                continue
            yield ZipPart(f"call/{still.frame}.jpg", [picture], compressed=False)

    def _ruling_sheet(self, evidence: Evidence | None) -> str:
        row, call = self.history.row, self.call
        challenges = [one for one in challenges_of(self.history).challenges if one.call == call.id]
        ruling = "Nobody has ruled on it: the call stands as it was made"
        if call.ruling is not None:
            ruling = ": ".join(filter(None, (f"{call.ruling.decision} by {call.ruling.by}", call.ruling.note)))
        facts = {
            "When": f"{call.t_ns / 1e9:.3f} s on the clock of the recording",
            "Measured": ". ".join(filter(None, (call.words or call.summary, call.measured))),
            "Rule": " ".join(f"{clause.id}: {clause.text}" for clause in call.clauses),
            "Ruling": ruling,
        }
        rows = [(name, _capitalized(text)) for name, text in facts.items() if text]
        rows += [("Challenge", _told(challenge, row)) for challenge in challenges]
        return document(
            f"Ruling sheet: {call.text}",
            paragraph(f"{row.away} at {row.home}, game {row.id}", "muted"),
            section(_capitalized(call.text), *self._pictures(evidence), table(("", ""), rows, "")),
        )

    def _pictures(self, evidence: Evidence | None) -> Iterator[Markup]:
        """Yield the last picture that does not show the call, and the first that does, with what was measured."""
        if evidence is None:
            return
        for still in (evidence.last_before, evidence.decisive):
            if still is not None:
                jpeg = base64.b64encode(self.viewer.close_up_jpeg(self.history.row, self.call.id, still.frame)).decode()
                after_ms = (still.t_ns - self.call.t_ns) / 1e6
                when = f"{-after_ms:.0f} ms before the instant" if after_ms < 0 else f"{after_ms:.0f} ms after it"
                caption = f"Frame {still.frame}, {when}. {_capitalized(evidence.marks(still).gap_text)}"
                yield figure(Markup(f'<img alt="" src="data:image/jpeg;base64,{jpeg}">'), caption)


def _told(challenge: ChallengeView, row: GameRow) -> str:
    team = row.home if challenge.side == "home" else row.away
    told = [f"{team}: {challenge.reason}"]
    if challenge.appealed is not None:
        told += [f"First {DECISION_WORDS[challenge.appealed.decision]} by {challenge.appealed.by}, appealed"]
    told += [f"{one.by}: {DECISION_WORDS[one.decision]}, {one.reason}" for one in challenge.opinions]
    if challenge.decision is None:
        return ". ".join([*told, "Under review"])
    decided = f"{DECISION_WORDS[challenge.decision]} by {challenge.ruled_by}: {challenge.ruling_reason}"
    return ". ".join([*told, _capitalized(decided)])


def _rate(evidence: Evidence) -> float:
    """Return how many pictures there are a second."""
    span_ns = evidence.stills[-1].t_ns - evidence.stills[0].t_ns
    return (len(evidence.stills) - 1) / (span_ns / 1e9) if span_ns else 30.0


def _capitalized(text: str) -> str:
    return text[:1].upper() + text[1:]
