"""The pictures of a call over HTTP: the list, the decisive one, exactly the requested one, and rate limits."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import cv2
import numpy as np
import pytest
from asgi_client import ClientResponse
from evidence_service import DEFENDER, MANY, PLAY, RUNNER, EvidenceService
from waiting import WAIT_S, wait_until

from downfield.api.context.context import context_of
from downfield.api.security.access import RateLimit, RateLimits
from downfield.calibration.calibration import read_calibration
from downfield.capture.footage import FootageFrame
from downfield.capture.sources.file_sources import bundled_demo
from downfield.core.arrays import Image
from downfield.core.errors import NotRecordedError
from downfield.core.footprint import signed_gap
from downfield.game.records.commands import NewGame
from downfield.game.records.keeping import EntryRow, GameRow
from downfield.game.session import GAME_LIMITS
from downfield.review.evidence.finder import EVIDENCE_LIMITS
from downfield.store.history import History


def shown(body: bytes) -> tuple[float, int]:
    """Return the brightness of a JPEG's picture, and its height."""
    image = cv2.imdecode(np.frombuffer(body, np.uint8), cv2.IMREAD_COLOR)
    assert image is not None
    return float(image[:90].mean()), image.shape[0]


@pytest.fixture
def service(tmp_path: Path) -> Iterator[EvidenceService]:
    made = EvidenceService(tmp_path / "a.db")
    made.play()
    yield made
    made.close()


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EvidenceService]:
    """A service for requests that change nothing, as they are refused."""
    made = EvidenceService(tmp_path_factory.mktemp("asked") / "a.db")
    made.play()
    yield made
    made.close()


def frames_of(answer: ClientResponse) -> list[int]:
    assert answer.status == 200, answer.body
    return [one["frame"] for one in answer.json["frames"]]


def test_the_frames_around_a_call_are_listed_with_the_one_that_decides(service: EvidenceService) -> None:
    answer = service.client.get(service.tackle() + "?seconds=0.5")
    found, call = answer.json, answer.json["call"]
    assert call["kind"] == "tackle"
    assert found["game"] == service.game
    times = {one["frame"]: one["t_ns"] for one in found["frames"]}
    assert times == {one.frame: one.t_ns for one in PLAY.scenes if abs(one.t_ns - call["t_ns"]) <= 5e8}
    nearest = min(PLAY.scenes, key=lambda one: abs(one.t_ns - call["t_ns"]))
    assert found["decisive"] == nearest.frame
    assert all(isinstance(one["t_ns"], int) for one in found["frames"])
    words = {one["frame"]: one["text"] for one in found["frames"]}
    assert "mm into each other" in words[nearest.frame + 3]
    assert words[nearest.frame + 3].endswith("touching by all frames so far: more than 99 %")


def test_a_span_without_its_middle_still_has_the_frame_nearest_to_it(service: EvidenceService) -> None:
    decisive = service.client.get(service.tackle()).json["decisive"]
    service.footage_store.missing = set(range(decisive - 12, decisive + 21))
    answer = service.client.get(service.tackle() + "?seconds=0.1")
    assert frames_of(answer) == [decisive - 13]
    assert answer.json["decisive"] == decisive - 13


def test_exactly_the_requested_frame_is_served_drawn_on_or_plain(service: EvidenceService) -> None:
    around = service.tackle() + "?seconds=0.1"

    def is_measured() -> bool:
        return all(one["measured"] for one in service.client.get(around).json["frames"])

    wait_until(is_measured, "the scenes come to the disk")
    for frame in frames_of(service.client.get(around)):
        answer = service.client.get(f"{service.tackle()}/{frame}.jpg")
        assert answer.headers["content-type"] == "image/jpeg"
        brightness, height = shown(answer.body)
        assert abs(brightness - frame) < 1.5
        assert height > 90  # the caption is below the picture
        for plain in ("?plain", "?plain=1", "?plain=true"):
            brightness, height = shown(service.client.get(f"{service.tackle()}/{frame}.jpg{plain}").body)
            assert (abs(brightness - frame) < 1.5, height) == (True, 90)


def test_the_drawings_are_those_of_the_scenes_that_were_judged(service: EvidenceService) -> None:
    listed = service.client.get(service.tackle() + "?seconds=0.5").json
    found = service.client.get(service.tackle() + "/drawings?seconds=0.5").json
    assert [one["frame"] for one in found["frames"]] == [one["frame"] for one in listed["frames"]]
    assert (found["size_px"], found["lines"], found["calibration"]) == (None, [], "none")
    scenes = {scene.frame: scene for scene in PLAY.scenes}
    measured = [one["frame"] for one in listed["frames"] if one["measured"]]
    assert len(measured) > 10
    for drawing in found["frames"]:
        if drawing["frame"] not in measured:
            assert (drawing["figures"], drawing["gap"]) == ([], None)
            continue
        figures = {figure.id: figure for figure in scenes[drawing["frame"]].figures}
        assert {one["id"] for one in drawing["figures"]} == set(figures)
        for one in drawing["figures"]:
            assert np.allclose(one["mm"], figures[one["id"]].footprint.corners_mm(), atol=0.006)
            assert one["px"] == []
        truth = signed_gap(figures[RUNNER].footprint, figures[DEFENDER].footprint)
        assert drawing["gap"]["gap_mm"] == pytest.approx(truth.gap_mm, abs=0.06)


def test_scenes_that_are_not_on_disk_yet_can_be_drawn(tmp_path: Path) -> None:
    service = EvidenceService(tmp_path / "a.db")
    service.play()
    unwritten = service.game_service.unwritten_scenes()
    assert 0 < len(unwritten) < GAME_LIMITS.batch_scenes
    measured = {
        one["frame"]: one["measured"] for one in service.client.get(service.tackle() + "?seconds=3").json["frames"]
    }
    assert all(measured[scene.frame] for scene in unwritten)
    service.close()


def test_an_ended_game_shows_its_calls_as_the_game_in_play_does(service: EvidenceService) -> None:
    path = service.tackle(service.game)
    listed = frames_of(service.client.get(path))
    service.game_service.start_game(NewGame())
    again = service.client.get(path)
    assert frames_of(again) == listed
    assert any(one["measured"] for one in again.json["frames"])
    decisive = again.json["decisive"]
    assert shown(service.client.get(f"{path}/{decisive}.jpg?plain").body)[0] == pytest.approx(decisive, abs=1.5)
    assert service.client.get(path.replace(service.game, "current")).json["code"] == "unknown"
    row = service.store.game(service.game)
    assert row is not None
    assert {began_ns for _, _, began_ns in service.footage_store.requested} == {row.began_ns}


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/api/games/current/calls/none/frames", 404, "unknown"),
        ("/api/games/20200101-000000-0000/calls/none/frames", 404, None),
        ("/api/games/..%2f..%2fetc/calls/none/frames", 404, None),
        ("/api/games/current/calls/..%2f..%2f..%2fetc%2fpasswd/frames", 404, None),
        ("/api/games/current/calls/%00/frames", 404, "unknown"),
        ("/api/games/current/calls/" + "x" * 201 + "/frames", 422, None),
        ("{tackle}?seconds=0", 422, None),
        ("{tackle}?seconds=3.01", 422, None),
        ("{tackle}?seconds=nan", 422, None),
        ("{tackle}?seconds=inf", 422, None),
        ("{tackle}/-1.jpg", 422, None),
        ("{tackle}/1e3.jpg", 422, None),
        ("{tackle}/" + "9" * 40 + ".jpg", 422, None),
        ("{tackle}/play.mp4.jpg", 422, None),
        ("{tackle}/..%2f..%2fsecret.jpg", 404, None),
        ("{tackle}/12.png", 404, None),
        ("{tackle}/999999.jpg", 404, "not_recorded"),
        ("{tackle}/12.jpg?plain=maybe", 422, None),
        ("{tackle}/drawings?seconds=nan", 422, None),
        ("{tackle}/drawings?plane=sky", 422, None),
        ("{tackle}/12/above.jpg", 422, None),
        ("{tackle}/12/above.jpg?x_mm=0&y_mm=0&width_mm=nan&height_mm=100", 422, None),
        ("{tackle}/12/above.jpg?x_mm=0&y_mm=0&width_mm=1000&height_mm=100&px_per_mm=5", 422, None),
        ("{tackle}/12/measurement?x=1&y=2", 422, None),
        ("{tackle}/12/measurement?x=1&y=2&x=3", 422, None),
        ("{tackle}/12/measurement?x=1&y=2&x=inf&y=3", 422, None),
        ("{tackle}/999999/measurement?x=1&y=2&x=3&y=4", 404, "not_recorded"),
        ("/api/games/current/calls/none/frames/drawings", 404, "unknown"),
    ],
)
def test_unknown_or_hostile_requests_get_a_problem(
    asked: EvidenceService, path: str, status: int, code: str | None
) -> None:
    answer = asked.client.get(path.format(tackle=asked.tackle()))
    assert answer.status == status, answer.body
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json.get("code") == code
    assert "Traceback" not in answer.body.decode()


def test_a_missing_recording_and_a_source_without_footage_have_different_messages(
    service: EvidenceService, tmp_path: Path
) -> None:
    service.footage_store.missing = {scene.frame for scene in PLAY.scenes}
    answer = service.client.get(service.tackle())
    assert (answer.status, answer.json["code"]) == (404, "not_recorded")
    without = EvidenceService(tmp_path / "b.db", footage=False)
    without.play()
    answer = without.client.get(without.tackle())
    assert (answer.status, answer.json["code"]) == (404, "not_recorded")
    assert "Play a camera, a stream or a video file." in answer.json["detail"]
    without.close()


def test_a_picture_deleted_after_it_was_listed_is_not_recorded(
    service: EvidenceService, monkeypatch: pytest.MonkeyPatch
) -> None:
    decisive = service.client.get(service.tackle()).json["decisive"]

    def gone(still: FootageFrame) -> Image:
        raise NotRecordedError(f"{still.video} can't be read any more")

    monkeypatch.setattr(service.footage_store, "picture", gone)
    answer = service.client.get(f"{service.tackle()}/{decisive}.jpg")
    assert (answer.status, answer.json["code"]) == (404, "not_recorded")


def test_stepping_reads_the_journal_once(service: EvidenceService) -> None:
    frames = frames_of(service.client.get(service.tackle()))
    for frame in frames[:20]:
        assert service.client.get(f"{service.tackle()}/{frame}.jpg").status == 200
    assert len(service.footage_store.requested) == 1


def test_a_calls_evidence_reads_only_its_own_part_of_the_journal(
    service: EvidenceService, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = [call.id for call in service.game_service.calls()]
    service.game_service.start_game(NewGame())  # the game with the calls is over, and all of it on the disk
    store = service.store
    batches = History(store, GameRow(service.game, 0, "", "", "", "tap")).batches
    read: list[int] = []
    whole_entries, whole_attachment = store.entries, store.attachment

    def entries(game: str, **options: Any) -> Iterator[EntryRow]:
        for entry in whole_entries(game, **options):
            read.append(entry.seq)
            yield entry

    def attachment(game: str, seq: int) -> bytes | None:
        unpacked.append(seq)
        return whole_attachment(game, seq)

    unpacked: list[int] = []
    monkeypatch.setattr(store, "entries", entries)
    monkeypatch.setattr(store, "attachment", attachment)
    answers = []
    for number, call in enumerate(calls):
        read.clear()
        unpacked.clear()
        path = f"/api/games/{service.game}/calls/{quote(call, safe='')}/frames"
        answers.append(service.client.get(path + "?seconds=3"))
        assert bool(read) == (number == 0)  # the journal was read for the first call
        t_ns = answers[-1].json["call"]["t_ns"]
        near = [one.seq for one in batches if one.first_ns <= t_ns + 3e9 and one.last_ns >= t_ns - 3e9]
        assert unpacked == near
    assert len({answer.body for answer in answers}) == len(calls) > 1


def test_what_is_added_to_a_journal_is_read_on(service: EvidenceService) -> None:
    row = service.store.game(service.game)
    assert row is not None
    half = History(service.store, row)
    service.game_service.start_game(NewGame())
    half.read_on(service.store)
    whole = History(service.store, row)
    assert half.ended
    for name in ("entries", "head", "score", "text", "batches"):
        assert getattr(half, name) == getattr(whole, name)
    assert (half.calls(), half.plays()) == (whole.calls(), whole.plays())


def test_without_a_calibration_nothing_is_measured_or_seen_from_above_and_the_reason_is_told(
    service: EvidenceService,
) -> None:
    decisive = service.client.get(service.tackle()).json["decisive"]
    for path in ("above.jpg?x_mm=0&y_mm=0&width_mm=100&height_mm=100", "measurement?x=1&y=2&x=3&y=4"):
        answer = service.client.get(f"{service.tackle()}/{decisive}/{path}")
        assert (answer.status, answer.json["code"], answer.json["detail"]) == (404, "not_recorded", "none")


def test_lengths_are_measured_at_the_height_of_the_bases_or_on_the_paint(service: EvidenceService) -> None:
    made = read_calibration(bundled_demo().with_suffix(".calibration.json"))
    service.footage_store.made = made
    decisive = service.client.get(service.tackle()).json["decisive"]
    ends = [[400.0, 300.0], [441.0, 309.0]]
    for plane, height_mm in (("base", PLAY.players[0].base.height_mm), ("paint", 0.0)):
        pixels = made.camera.to_pixels([[*end, height_mm] for end in ends])
        query = "&".join(f"x={x}&y={y}" for x, y in pixels.tolist())
        found = service.client.get(f"{service.tackle()}/{decisive}/measurement?{query}&plane={plane}").json
        assert found["length_mm"] == pytest.approx(np.hypot(41, 9), abs=1e-3)
        assert found["yards"][0] == pytest.approx(41 / made.field.mm_per_yd_x, abs=1e-3)
    above = service.client.get(
        f"{service.tackle()}/{decisive}/above.jpg?x_mm=300&y_mm=250&width_mm=200&height_mm=100&px_per_mm=3"
    )
    image = cv2.imdecode(np.frombuffer(above.body, np.uint8), cv2.IMREAD_COLOR)
    assert image is not None
    assert image.shape == (300, 600, 3)


def test_few_requests_wait_for_pictures_and_the_others_may_retry(service: EvidenceService) -> None:
    decisive = service.client.get(service.tackle()).json["decisive"]
    path, answers = f"{service.tackle()}/{decisive}.jpg", []
    service.footage_store.opened.clear()
    threads = [
        threading.Thread(target=lambda: answers.append(service.client.get(path)))
        for _ in range(EVIDENCE_LIMITS.waiting)
    ]
    for thread in threads:
        thread.start()
    while context_of(service.app).evidence._waiting._value:
        threading.Event().wait(0.01)
    refused = service.client.get(path)
    assert (refused.status, refused.headers["retry-after"]) == (503, "1")
    assert service.client.get("/api/game").status == 200
    service.footage_store.opened.set()
    for thread in threads:
        thread.join(WAIT_S)
    assert [answer.status for answer in answers] == [200] * EVIDENCE_LIMITS.waiting
    assert service.client.get(path).status == 200


def test_pictures_have_a_rate_limit_of_their_own(tmp_path: Path) -> None:
    service = EvidenceService(tmp_path / "a.db", limits=RateLimits(MANY, MANY, MANY, RateLimit(0.01, 3)))
    service.play()
    answers = [service.client.get(service.tackle()) for _ in range(4)]
    assert [answer.status for answer in answers] == [200, 200, 200, 429]
    assert int(answers[-1].headers["retry-after"]) > 1
    assert service.client.get("/api/games/current/calls").status == 200
    service.close()


def test_the_openapi_description_has_both_operations(service: EvidenceService) -> None:
    described: dict[str, Any] = service.client.get("/openapi.json").json
    listing = described["paths"]["/api/games/{game}/calls/{call}/frames"]["get"]
    picture = described["paths"]["/api/games/{game}/calls/{call}/frames/{frame}.jpg"]["get"]
    assert "Role: viewer." in listing["description"]
    assert list(picture["responses"]["200"]["content"]) == ["image/jpeg"]
    for operation in (listing, picture):
        assert {"401", "403", "404", "422", "429", "503"} <= set(operation["responses"])
