"""The program as a film: a client that knows only the playlist decodes it; it costs nothing while nobody asks."""

from __future__ import annotations

import asyncio
import io
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import av
import httpx
import numpy as np
import pytest
from browsers import PageServer
from program_camera import SIZE, STEP_NS, NumberedCamera
from waiting import WAIT_S, let_run_async, wait_until, wait_until_async

from downfield.api.security.access import AccessPolicy
from downfield.broadcast.program import live_stream, picture_process, stream_encoder
from downfield.broadcast.program.live_stream import TIMES, FilmWriter, LiveStream, Part
from downfield.broadcast.program.picture_process import PictureProcessLimits
from downfield.broadcast.program.program_feed import ProgramDrawer
from downfield.broadcast.program.program_painter import ProgramMoment
from downfield.core.platform.system import CAN_PASS_DESCRIPTORS


@pytest.fixture
def drawer() -> Iterator[ProgramDrawer]:
    made = ProgramDrawer(ProgramMoment)
    yield made
    made.close()


@pytest.fixture
def camera(drawer: ProgramDrawer) -> Iterator[NumberedCamera]:
    made = NumberedCamera(drawer)
    yield made
    made.close()


@pytest.fixture
def client(drawer: ProgramDrawer, camera: NumberedCamera, tmp_path: Path) -> Iterator[httpx.Client]:  # noqa: ARG001 - it runs
    running = PageServer(tmp_path, program=drawer)
    running.start()
    with httpx.Client(base_url=running.url, timeout=WAIT_S) as made:
        yield made
    running.stop()


def pieces(playlist: str) -> list[str]:
    """The addresses of a header and the segments after it."""
    header = re.findall(r'#EXT-X-MAP:URI="([^"]+)"', playlist)
    return [*header[-1:], *(line for line in playlist.splitlines() if line and not line.startswith("#"))]


def waited_for(client: httpx.Client, number: int) -> str:
    """The playlist once it names a segment."""
    for _ in range(20):
        answer = client.get("/program.m3u8", params={"_HLS_msn": number})
        if answer.status_code == 200:
            return answer.text
    raise AssertionError(answer.text)


def is_wanted(drawer: ProgramDrawer) -> bool:
    return drawer.stream.wanted


def decoded(film: bytes) -> list[av.VideoFrame]:
    with av.open(io.BytesIO(film), mode="r") as container:
        return list(container.decode(video=0))


def test_a_client_reads_the_playlist_and_decodes_what_the_camera_sent(client: httpx.Client) -> None:
    first = client.get("/program.m3u8")
    assert (first.status_code, first.headers["content-type"]) == (200, "application/vnd.apple.mpegurl")
    playlist = waited_for(client, 2)
    assert playlist.startswith("#EXTM3U\n#EXT-X-VERSION:9\n")
    film = b"".join(client.get(f"/{path}").content for path in pieces(playlist))
    frames = decoded(film)
    assert {(frame.width, frame.height) for frame in frames} == {SIZE}
    times = [float(frame.time or 0) for frame in frames]
    assert times == sorted(set(times))
    assert np.diff(times).min() > 0.9 * STEP_NS / 1e9
    shown = [int(frame.to_ndarray(format="bgr24", threads=1).mean()) for frame in frames]
    assert len(set(shown)) > 20  # each is another picture
    listed = [float(seconds) for seconds in re.findall(r"#EXTINF:([\d.]+)", playlist)]
    assert sum(listed) == pytest.approx(times[-1] - times[0] + STEP_NS / 1e9, abs=0.3)
    target = int(re.findall(r"#EXT-X-TARGETDURATION:(\d+)", playlist)[0])
    assert max(listed) <= target + 0.5


def test_parts_together_are_their_segment_and_the_hinted_one_is_sent_when_it_comes(client: httpx.Client) -> None:
    playlist = waited_for(client, 1)
    target = float(re.findall(r"PART-TARGET=([\d.]+)", playlist)[0])
    parts = re.findall(r'#EXT-X-PART:DURATION=([\d.]+),URI="(program/(\d+)\.(\d+)\.m4s)"(,INDEPENDENT=YES)?', playlist)
    assert all(float(seconds) <= target + 1e-3 for seconds, *_ in parts)
    assert all((index == "0") == bool(independent) for _, _, _, index, independent in parts)
    whole = client.get("/program/1.m4s").content
    assert b"".join(client.get(f"/{path}").content for _, path, number, *_ in parts if number == "1") == whole
    hint = re.findall(r'#EXT-X-PRELOAD-HINT:TYPE=PART,URI="([^"]+)"', playlist)[0]
    assert client.get(f"/{hint}").status_code in {200, 404}  # 404: a key frame came first, and with it a new segment
    assert client.get("/program/0.99.m4s").status_code == 404
    assert client.get("/program/999999.m4s").status_code == 404


def test_a_picture_of_another_size_begins_another_film(client: httpx.Client, camera: NumberedCamera) -> None:
    waited_for(client, 0)
    camera.size = (120, 68)

    def after_the_change() -> str:
        after = client.get("/program.m3u8").text.partition("#EXT-X-DISCONTINUITY\n")[2]
        return after if "#EXTINF" in after else ""

    after = wait_until(after_the_change)
    film = b"".join(client.get(f"/{path}").content for path in pieces(after))
    assert {(frame.width, frame.height) for frame in decoded(film)} == {(120, 68)}


def test_nothing_is_drawn_or_encoded_before_somebody_asks_and_after_they_left(
    drawer: ProgramDrawer, camera: NumberedCamera, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait_until(lambda: camera.sent >= 10)
    assert is_wanted(drawer) is False
    assert drawer._newest.finished is False
    assert len(drawer._newest) == 0
    drawer.stream._asked()
    assert is_wanted(drawer) is True
    monkeypatch.setattr(live_stream, "TIMES", live_stream.StreamTimes(unwatched_s=0.0))
    assert is_wanted(drawer) is False


def test_numbers_go_on_after_a_pause_so_that_no_player_takes_new_segments_for_old() -> None:
    async def run() -> None:
        stream = LiveStream()
        film = FilmWriter(stream)
        film.begin(b"header")
        film.add(Part(b"a", 0.2, independent=True))
        film.add(Part(b"b", 0.2, independent=True))
        assert await stream.segment(0) == b"a"
        film.end()
        film.begin(b"another")
        film.add(Part(b"late", 0.2, independent=False))  # no key frame yet: it is not shown
        film.add(Part(b"c", 0.2, independent=True))
        playlist = await stream.playlist()
        assert playlist is not None
        assert "#EXT-X-MEDIA-SEQUENCE:2\n#EXT-X-DISCONTINUITY-SEQUENCE:1\n" in playlist
        assert await stream.header(0) is None
        assert await stream.header(1) == b"another"
        assert await stream.segment(0) is None
        assert await stream.part(2, 0) == b"c"

    asyncio.run(run())


def test_a_writer_ends_and_adds_to_no_take_but_its_own() -> None:
    async def run() -> None:
        stream = LiveStream()
        idle, former, present = FilmWriter(stream), FilmWriter(stream), FilmWriter(stream)
        former.begin(b"former")
        former.add(Part(b"a", 0.2, independent=True))
        present.begin(b"present")
        present.add(Part(b"b", 0.2, independent=True))
        former.add(Part(b"late", 0.2, independent=True))
        idle.add(Part(b"without a take", 0.2, independent=True))
        idle.end()
        former.end()
        former.end()
        assert await stream.header(0) is None
        assert await stream.segment(0) is None
        assert await stream.header(1) == b"present"
        assert await stream.part(1, 0) == b"b"
        present.add(Part(b"c", 0.2, independent=True))
        assert await stream.segment(1) == b"b"
        present.end()
        assert await stream.header(1) is None

    asyncio.run(run())


@pytest.mark.skipif(not CAN_PASS_DESCRIPTORS, reason="the program is drawn in this process")
def test_a_viewer_plays_on_however_often_the_other_encoder_is_idle_and_after_the_drawing_process_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pictures are drawn in a process of their own, while the encoder of this process has nothing to do."""
    monkeypatch.setattr(live_stream, "TIMES", live_stream.StreamTimes(unwatched_s=0.2, wait_s=30.0, start_s=30.0))
    monkeypatch.setattr(stream_encoder, "TIMES", live_stream.TIMES)
    monkeypatch.setattr(picture_process, "PICTURE_PROCESS_LIMITS", PictureProcessLimits(restart_s=0.0))
    drawer = ProgramDrawer(ProgramMoment, own_process=True)
    camera = NumberedCamera(drawer)
    running = PageServer(tmp_path, program=drawer)
    running.start()

    def play(client: httpx.Client, segments: int) -> set[str]:
        """Play as players do: the header and each segment once, in order; return the headers' addresses."""
        headers: set[str] = set()
        playlist = wait_until(
            lambda: next(iter(re.findall(r"MEDIA-SEQUENCE:(\d+)", client.get("/program.m3u8").text)), "")
        )
        number = int(playlist)
        for segment in range(number, number + segments):
            header, *_ = pieces(waited_for(client, segment))
            headers.add(header)
            film = client.get(f"/{header}"), client.get(f"/program/{segment}.m4s")
            assert [answer.status_code for answer in film] == [200, 200]
            assert decoded(b"".join(answer.content for answer in film))
        return headers

    try:
        with httpx.Client(base_url=running.url, timeout=WAIT_S) as client:
            before = play(client, 6)
            assert len(before) == 1
            process = drawer._process
            assert process is not None
            worker = process._worker
            assert worker is not None
            os.kill(worker.process.process.pid, signal.SIGKILL)
            # Asking goes on, as a player's does: for nobody no process is started.
            wait_until(lambda: client.get("/program.m3u8") and (process._worker or worker) is not worker)
            assert play(client, 3).isdisjoint(before)
    finally:
        camera.close()
        running.stop()
        drawer.close()


def test_only_the_last_segments_are_kept() -> None:
    async def run() -> None:
        stream = LiveStream()
        take = stream.begin(b"header")
        for number in range(TIMES.segments + 3):
            stream.add(take, Part(bytes([number]), 0.2, independent=True))
        playlist = await stream.playlist(query="?key=abc")
        assert playlist is not None
        assert "#EXT-X-MEDIA-SEQUENCE:3\n" in playlist
        assert playlist.count("#EXTINF") == TIMES.segments - 1
        assert all(address.endswith("?key=abc") for address in re.findall(r'URI="([^"]+)"', playlist))
        assert await stream.segment(2) is None

    asyncio.run(run())


def test_a_closed_stream_lets_nobody_wait() -> None:
    async def run() -> None:
        stream = LiveStream()
        stream.close()
        assert await stream.playlist() is None

    asyncio.run(run())


def test_without_a_picture_or_a_right_to_watch_it_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_stream, "TIMES", live_stream.StreamTimes(wait_s=0.1, start_s=0.1))
    drawer = ProgramDrawer(ProgramMoment)
    running = PageServer(tmp_path, AccessPolicy(trust_local=False), program=drawer)
    running.start()
    with httpx.Client(base_url=running.url, timeout=WAIT_S) as client:
        assert client.get("/program.m3u8").status_code == 401
        assert client.get("/program/0.m4s").status_code == 401
        code = running.token_store.make_code("viewer")
        client.post("/api/session", json={"code": code.code, "name": "OBS"})
        answer = client.get("/program.m3u8")
        assert answer.status_code == 503
        assert "No picture comes now" in answer.json()["detail"]
        assert client.get("/program.m3u8?_HLS_part=1").status_code == 400
    running.stop()
    drawer.close()


def test_pictures_are_cut_to_even_edges(drawer: ProgramDrawer) -> None:
    image = np.full((91, 161, 3), 90, np.uint8)
    stream = drawer.stream
    stream._asked()
    for number in range(8):
        drawer._encoder.put(image, number * 100_000_000)
        wait_until(lambda: not len(drawer._encoder._pictures))
    wait_until(lambda: stream._segments and stream._segments[-1].parts)
    film = next(iter(stream._headers.values())) + b"".join(part.data for part in stream._segments[-1].parts)
    assert {(frame.width, frame.height) for frame in decoded(film)} == {(160, 90)}


def test_the_first_playlist_waits_for_an_encoder_that_starts_slowly(monkeypatch: pytest.MonkeyPatch) -> None:
    """A player that meets an error at its first request gives up."""
    monkeypatch.setattr(live_stream, "TIMES", live_stream.StreamTimes(wait_s=0.05, start_s=30.0, unwatched_s=0.05))
    stream = LiveStream()

    async def play() -> tuple[str | None, str | None]:
        asked = asyncio.create_task(stream.playlist())
        await wait_until_async(lambda: stream.wanted)  # which starts it
        await let_run_async(0.2)
        assert not asked.done()
        assert stream.wanted, "a viewer that waits longer than `unwatched_s` is one"
        stream.add(stream.begin(b"header"), Part(b"part", 0.25, independent=True))
        return await asked, await stream.playlist(7)

    first, later = asyncio.run(play())
    assert first is not None
    assert "take-0.mp4" in first
    assert later is None  # what is too far ahead is not waited for so long
