"""What a phone sends: packets become whole pictures in their order, and what was lost is requested or given up."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import pytest
from aiortc.rtp import RtpPacket

from downfield.capture.sources import phone_session
from downfield.capture.sources.phone_session import SESSION_LIMITS, PhoneSession, RtpPictures

KEY, OTHER = b"\0\0\0\1\x67size\0\0\0\1\x65key", b"\0\0\0\1\x41other"
H264, VP8 = 102, 97
MS = 1_000_000


class Clock:
    """The monotonic clock of what is tested."""

    def __init__(self) -> None:
        self.ns = 10_000_000_000

    def __call__(self) -> int:
        return self.ns


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(phone_session, "monotonic_ns", made)
    return made


@pytest.fixture
def session(clock: Clock) -> PhoneSession:
    assert clock.ns
    made = PhoneSession("phone", "Ann's phone")
    made.begin()
    return made


@pytest.fixture
def pictures(session: PhoneSession) -> RtpPictures:
    return RtpPictures(session, {H264: "h264", VP8: "vp8"})


def packets(count: int, first: int = 65_500, parts: int = 3, *, is_marked: bool = True) -> list[RtpPacket]:
    """Return the packets of pictures: each of some parts, the first picture a key picture."""
    made = []
    for picture in range(count):
        for part in range(parts):
            number, is_last = first + picture * parts + part, part == parts - 1
            packet = RtpPacket(
                H264, int(is_last and is_marked), number & 0xFFFF, (2**32 - 9000 + 3000 * picture) & 0xFFFFFFFF
            )
            packet.ssrc = 7
            data = (KEY if picture == 0 else OTHER) if part == 0 else bytes([picture, part])
            packet._data = data  # type: ignore[attr-defined]
            made.append(packet)
    return made


def take(session: PhoneSession) -> list[bytes]:
    found = []
    while (picture := session.next(0)) is not None:
        found.append(picture.data)
    return found


def add(pictures: RtpPictures, given: Iterable[RtpPacket]) -> None:
    for packet in given:
        pictures.add(packet)


def whole(count: int, parts: int = 3) -> list[bytes]:
    each = packets(count, parts=parts)
    return [b"".join(one._data for one in each[at : at + parts]) for at in range(0, len(each), parts)]  # type: ignore[attr-defined]


def test_a_picture_is_whole_with_its_last_packet(pictures: RtpPictures, session: PhoneSession) -> None:
    sent = packets(2)
    add(pictures, sent[:2])
    assert take(session) == []
    add(pictures, sent[2:3])
    assert take(session) == whole(1), "it waits for the next picture"


def test_numbers_and_times_go_on_where_their_bits_end(
    pictures: RtpPictures, session: PhoneSession, clock: Clock
) -> None:
    for packet in packets(40):
        clock.ns += 11_111_111
        pictures.add(packet)
    received = [one for one in (session.next(0) for _ in range(40)) if one is not None]
    assert [one.data for one in received] == whole(40)
    steps_ms = [(after.taken_ns - before.taken_ns) / MS for before, after in itertools.pairwise(received)]
    assert all(abs(step - 1000 / 30) < 0.1 for step in steps_ms), steps_ms


@pytest.mark.parametrize("distance", [1, 2, 5, 11])
def test_packets_that_overtake_each_other_make_the_same_pictures(
    pictures: RtpPictures, session: PhoneSession, distance: int
) -> None:
    sent = packets(20)
    rest = sent[3:]
    for at in range(0, len(rest) - distance, distance + 1):
        rest[at : at + distance + 1] = reversed(rest[at : at + distance + 1])
    add(pictures, [*sent[:3], *rest])
    assert take(session) == whole(20)


def test_a_packet_that_comes_twice_or_after_its_picture_is_ignored(
    pictures: RtpPictures, session: PhoneSession
) -> None:
    sent = packets(4)
    add(pictures, [one for one in sent for _ in range(2)])
    add(pictures, sent)
    assert take(session) == whole(4)


def test_a_sender_that_marks_no_last_packet_is_received_a_picture_later(
    pictures: RtpPictures, session: PhoneSession
) -> None:
    add(pictures, packets(4, is_marked=False))
    assert take(session) == whole(4)[:3]


def test_packets_that_only_probe_the_network_belong_to_no_picture(pictures: RtpPictures, session: PhoneSession) -> None:
    sent = packets(3)
    empty = RtpPacket(H264, 0, 0, sent[2].timestamp)
    empty._data = b""  # type: ignore[attr-defined]
    for number, packet in enumerate([*sent[:3], empty, *sent[3:]]):
        packet.sequence_number = number
        pictures.add(packet)
    assert take(session) == whole(3)


def test_missing_packets_are_requested_soon_again_after_a_while_and_given_up(
    pictures: RtpPictures, session: PhoneSession, clock: Clock
) -> None:
    sent = packets(5)
    missing = [sent.pop(7).sequence_number, sent.pop(4).sequence_number][::-1]
    add(pictures, sent)
    assert pictures.source == 7
    assert take(session) == whole(1)
    assert pictures.to_request() == [], "others may only have overtaken them"
    clock.ns += SESSION_LIMITS.overtaken_ns
    assert pictures.to_request() == missing
    assert pictures.to_request() == [], "they are on their way"
    clock.ns += SESSION_LIMITS.again_ns
    assert pictures.to_request() == missing
    clock.ns += SESSION_LIMITS.missing_ns
    assert pictures.to_request() == []
    assert session.is_key_due(), "what is given up needs a key picture"
    assert take(session) == []
    add(pictures, packets(2, first=65_500 + 15))
    key = session.next(0)
    assert key is not None
    assert (key.data, key.lost) == (whole(1)[0], 4), "lost pictures were not counted"


def test_a_key_picture_that_waits_behind_what_is_given_up_is_used(
    pictures: RtpPictures, session: PhoneSession, clock: Clock
) -> None:
    sent = packets(3)
    del sent[4]
    add(pictures, [*sent, *packets(2, first=65_500 + 9)])
    assert take(session) == whole(1)
    clock.ns += SESSION_LIMITS.missing_ns + 1
    assert pictures.to_request() == []
    assert take(session) == whole(2)


def test_a_packet_that_was_requested_completes_its_picture_and_those_after_it(
    pictures: RtpPictures, session: PhoneSession
) -> None:
    sent = packets(5)
    late = sent.pop(4)
    add(pictures, sent)
    assert len(take(session)) == 1
    add(pictures, [late])
    assert take(session) == whole(5)[1:]
    assert pictures.to_request() == []


def test_a_packet_that_others_overtake_is_not_requested(
    pictures: RtpPictures, session: PhoneSession, clock: Clock
) -> None:
    sent = packets(3)
    late = sent.pop(4)
    add(pictures, sent)
    for _ in range(2):
        assert pictures.to_request() == []
        clock.ns += SESSION_LIMITS.overtaken_ns // 2
    add(pictures, [late])
    assert pictures.to_request() == []
    assert take(session) == whole(3)


def test_a_packet_that_is_sent_again_makes_its_picture_no_later(
    pictures: RtpPictures, session: PhoneSession, clock: Clock
) -> None:
    sent = packets(3)
    late = sent.pop(1)
    for packet in sent:
        clock.ns += 17 * MS
        pictures.add(packet)
    clock.ns += 700 * MS
    pictures.add(late)
    received = [one for one in (session.next(0) for _ in range(3)) if one is not None]
    assert [one.data for one in received] == whole(3)
    assert clock.ns - received[0].taken_ns > 700 * MS, "the time of its last packet was taken for its own"


def test_a_pause_is_no_loss(pictures: RtpPictures, session: PhoneSession, clock: Clock) -> None:
    sent = packets(4)
    add(pictures, sent[:6])
    clock.ns += 60_000 * MS
    assert pictures.to_request() == []
    add(pictures, [sent[7]])
    assert pictures.to_request() == []
    clock.ns += SESSION_LIMITS.overtaken_ns
    assert pictures.to_request() == [sent[6].sequence_number], "it was given up for the time in which nothing was sent"
    add(pictures, [sent[6], *sent[8:]])
    assert take(session) == whole(4)


def test_after_a_gap_that_no_sender_can_fill_the_next_key_picture_goes_on(
    pictures: RtpPictures, session: PhoneSession
) -> None:
    add(pictures, packets(2, first=100))
    add(pictures, packets(2, first=100 + 2 * SESSION_LIMITS.most_missing))
    assert pictures.to_request() == []
    assert take(session) == whole(2) * 2


def test_the_rest_of_a_key_picture_is_none(session: PhoneSession) -> None:
    session.deliver("h264", KEY[KEY.index(b"\x65") - 4 :], 0, 0)
    assert session.next(0) is None, "it lacks its first part"


def test_after_a_loss_nothing_is_used_before_the_next_key_picture() -> None:
    session = PhoneSession("phone", "Ann's phone")
    session.begin()
    assert session.is_key_due(), "browsers send none by themselves"
    assert not session.is_key_due(), "it is on its way"
    for data in (OTHER, KEY, OTHER):
        session.deliver("h264", data, 0, 0)
    session.note_loss()
    for data in (OTHER, OTHER, KEY):
        session.deliver("h264", data, 0, 0)
    received = [session.next(0) for _ in range(3)]
    assert [(one.is_keyframe, one.lost) for one in received if one] == [(True, 1), (False, 1), (True, 3)]


def test_a_reader_that_is_too_slow_begins_anew_and_does_not_fall_behind() -> None:
    session = PhoneSession("phone", "Ann's phone")
    session.begin()
    for data in [KEY, *[OTHER] * 500]:
        session.deliver("h264", data, 0, 0)
    kept = sum(session.next(0) is not None for _ in range(121))
    assert kept == 120
    assert session.next(0) is None


def test_times_are_right_after_a_gap_however_unevenly_pictures_arrive_before(clock: Clock) -> None:
    session = PhoneSession("phone", "Ann's phone")
    session.begin()
    began_ns, errors_ms = clock.ns, []
    for number in range(400):
        taken_ns = round(number * 1e9 / 30)
        if 120 <= number < 270:
            continue  # nothing comes for 5 s
        late_ms = 4 + 15 * (number % 60)  # a queue that grows and is emptied
        clock.ns = began_ns + taken_ns + late_ms * MS
        session.deliver("h264", KEY, taken_ns, clock.ns)
        picture = session.next(0)
        assert picture is not None
        errors_ms.append((picture.taken_ns - began_ns - taken_ns) / MS)
    assert max(abs(one - 4) for one in errors_ms) < 1, errors_ms


def test_a_sender_that_sets_its_clock_back_has_right_times_again(clock: Clock) -> None:
    session = PhoneSession("phone", "Ann's phone")
    session.begin()
    errors_ms = []
    for number in range(200):
        clock.ns += 33 * MS
        stopped_ms = 0 if number < 100 else 5_000  # its clock stood still for that long
        session.deliver("h264", KEY, clock.ns - (stopped_ms + 7) * MS, clock.ns)
        picture = session.next(0)
        assert picture is not None
        errors_ms.append((clock.ns - picture.taken_ns) / MS)
        if number == 99:
            clock.ns += 5_000 * MS
    assert max(errors_ms[:100]) < 1
    assert max(errors_ms[140:]) < 1, errors_ms
