"""Check a bundle without Downfield: ``python verify_bundle.py GAME.downfield.zip [PUBLIC KEY]``.

Needs Python and the package cryptography, nothing else; the formulas are those of docs/formats.md. Exits with status 1
and says what is wrong, where anything was changed.
"""

from __future__ import annotations

import base64
import hashlib
import json
import sys
import zipfile

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


def chain(lines: bytes) -> tuple[int, str]:
    """Return how many entries a journal has, and the digest of the last. Raises ValueError: an entry was changed."""
    previous, count = "0" * 64, 0
    for line in lines.splitlines():
        entry, count = json.loads(line), count + 1
        attachment = entry.get("attachment")
        attached = None if attachment is None else hashlib.sha256(base64.b64decode(attachment)).hexdigest()
        sealed = {name: entry.get(name) for name in ("game", "seq", "kind", "at_ns", "key", "content")}
        text = json.dumps(sealed | {"attachment": attached}, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        digest = hashlib.sha256(f"{previous}\n{text}".encode()).hexdigest()
        if (entry["seq"], entry["digest"]) != (count, digest):
            raise ValueError(f"journal.jsonl: entry {count} was changed")
        previous = digest
    return count, previous


def verify(path: str, key: str = "") -> str:
    """Return what a bundle is of. Raises ValueError: anything was changed, or another rig has signed it."""
    with zipfile.ZipFile(path) as bundle:
        raw, signature = bundle.read("manifest.json"), base64.b64decode(bundle.read("manifest.sig"))
        manifest = json.loads(raw)
        public = manifest["public_key"]
        if key and public != key:
            raise ValueError(f"signed with {public}, not with {key}")
        letters = public.removeprefix("ed25519:")
        try:
            checked = Ed25519PublicKey.from_public_bytes(base64.urlsafe_b64decode(letters + "=" * (-len(letters) % 4)))
            checked.verify(signature, b"downfield.bundle.manifest\n" + raw)
        except InvalidSignature:
            raise ValueError("manifest.json: is not as it was signed") from None
        for part in manifest["parts"]:
            content = bundle.read(part["name"])
            if (len(content), hashlib.sha256(content).hexdigest()) != (part["size"], part["sha256"]):
                raise ValueError(f"{part['name']}: was changed")
        if chain(bundle.read("journal.jsonl")) != (manifest["entries"], manifest["head"]):
            raise ValueError("journal.jsonl: has another end than was signed")
    return f"{manifest['game']}, {manifest['away']} at {manifest['home']}: unaltered, signed with {public}"


if __name__ == "__main__":
    try:
        sys.stdout.write(f"{verify(*sys.argv[1:])}\n")
    except (ValueError, KeyError, zipfile.BadZipFile) as error:
        sys.exit(f"{sys.argv[1]}: {error}")
