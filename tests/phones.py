"""A phone of the tournament, for tests: its key, and the proofs that it makes as the pages do."""

from __future__ import annotations

import base64
import itertools
import json
from functools import partial

import httpx
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from waiting import WAIT_S

from downfield.api.security.grants import PASS_PREFIX, proof_content

post, get = partial(httpx.post, timeout=WAIT_S), partial(httpx.get, timeout=WAIT_S)


def encoded(data: bytes) -> str:
    """Return URL-safe base64 without padding."""
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


class Phone:
    """A phone with a key of its own.

    Attributes:
        holder: its public key.
        at_desk: what it signs its requests to the desk with.
    """

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        point = self._key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        self.holder = encoded(point)
        self.at_desk: dict[str, str] = {}
        self._clock = itertools.count(1_000)

    def open(self, desk: str, invitation: str) -> httpx.Response:
        """Open an invitation at the desk."""
        answer = post(f"{desk}/api/session", json={"code": invitation, "holder": self.holder})
        if answer.status_code == 200:
            self.at_desk = {"Authorization": f"Bearer {answer.json()['token']}"}
        return answer

    def passes(self, desk: str) -> dict[str, tuple[str, str]]:
        """Return the phone's passes and their rigs, by table."""
        found = get(f"{desk}/api/grants/mine", headers=self.at_desk).json()["passes"]
        return {one["table"]: (one["given"], one["rig"]) for one in found}

    def proved(self, given: str, rig: str, at_ms: int | None = None) -> str:
        """Return a pass with a proof of this phone."""
        made = {"rig": rig, "at_ms": next(self._clock) if at_ms is None else at_ms}
        proof = encoded(json.dumps(made).encode())
        signed = self._key.sign(proof_content(given.removeprefix(PASS_PREFIX), proof), ec.ECDSA(SHA256()))
        numbers = decode_dss_signature(signed)
        return f"{given}.{proof}.{encoded(b''.join(number.to_bytes(32) for number in numbers))}"
