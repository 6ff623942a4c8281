"""What a rig publishes of its table to a tournament's broker: the newest value of a few topics, signed by the rig."""

from __future__ import annotations

import base64
from typing import Any, Final, Literal

from downfield.core.errors import FormatError
from downfield.core.records import from_json, record, to_json
from downfield.game.records.owner import rig_id
from downfield.store.sealing.signing import RigKey, verify_signature

FEED_SUBJECT: Final = "downfield.feed"
"""Begins the subject of a topic of a table: ``downfield.feed.RIG.TOPIC``."""

DESK_SUBJECT: Final = "downfield.push.changed"
"""A desk announces here, without content, that it follows the feed, or that it has something new for the tables."""

ABOUT: Final = "about"
"""The topic with a table's address; the others are those of the rig's own feed."""

FEED_TOPICS: Final = ("game", "health", "questions", "source")
"""What the desk shows of each table."""

SIGNATURE_HEADER: Final = "Downfield-Signature"
"""Header with the signature of the message as it was sent, Ed25519, base64."""

_SIGNED_AS: Final = b"downfield.feed\n"


@record
class TableMessage:
    """The newest value of one topic of a table.

    Attributes:
        key: public key of its rig.
        table: the table's name.
        topic: ``"about"``, ``"game"``, ``"health"``, ``"questions"`` or ``"source"``.
        data: the topic's value, an object.

    """

    key: str
    table: str
    topic: str
    data: dict[str, Any]
    format: Literal["downfield.feed"] = "downfield.feed"
    version: Literal[1] = 1


def subject_of(rig: str, topic: str) -> str:
    """Return the subject of a topic of a table."""
    return f"{FEED_SUBJECT}.{rig}.{topic}"


def sealed_message(key: RigKey, message: TableMessage) -> tuple[bytes, dict[str, str]]:
    """Return a message as it is sent, and the headers with its signature."""
    content = to_json(TableMessage, message).encode()
    return content, {SIGNATURE_HEADER: base64.b64encode(key.sign(_SIGNED_AS + content)).decode()}


def opened_message(subject: str, content: bytes, signature: str) -> TableMessage:
    """Return the message that a rig has sent to a subject.

    Raises:
        FormatError: it is malformed, or the rig that the subject names has not signed it.

    """
    message = from_json(TableMessage, content, path=subject)
    try:
        raw = base64.b64decode(signature, validate=True)
    except ValueError:
        raw = b""
    if subject != subject_of(rig_id(message.key), message.topic) or not verify_signature(
        message.key, _SIGNED_AS + content, raw
    ):
        raise FormatError(subject, "the message is not signed by the rig that the subject names")
    return message
