"""The check of a bundle by ``downfield verify``: prints what was changed, and whose signature it bears."""

from __future__ import annotations

import sys
from pathlib import Path

from downfield.core.errors import InputError
from downfield.game.signing import is_public_key
from downfield.review.bundle_verification import BundleVerification, verify_bundle
from downfield.rig.trusted_keys import TrustedKeys


def check_bundle(path: Path, key: str | None, trust: str | None, folder: Path) -> bool:
    """Check a bundle and print what was found; return whether it is as a known rig has signed it.

    Args:
        path: the bundle.
        key: the public key it must be signed with; None for any that is trusted.
        trust: what to call its rig, whose key is trusted from now on; None to trust no further key.
        folder: the data folder, where trusted keys are.

    Raises:
        InputError: the file or a key can't be used.

    """
    if key is not None and not is_public_key(key):
        raise InputError(
            f"'{key}' is no public key. The rig's start page shows it: ed25519: and 43 letters, digits, - and _."
        )
    found = verify_bundle(path)
    for problem in found.problems:
        sys.stdout.write(f"{path}: {problem.fault.replace('_', ' ')}: {_printable(problem.text)}\n")
    manifest = found.manifest
    if not found.intact or manifest is None:
        sys.stdout.write(f"{path}: ALTERED. Do not rely on it: ask for the file again.\n")
        return False
    game = _printable(f"{manifest.game}, {manifest.away} at {manifest.home}")
    extent = f"{len(manifest.parts)} parts, {manifest.entries} entries; head {manifest.head}"
    sys.stdout.write(f"{path}: unaltered: game {game}; {extent}\n")
    for note in manifest.notes:
        sys.stdout.write(f"{path}: note: {_printable(note)}\n")
    return _is_known(found, path, key, trust, folder)


def _is_known(found: BundleVerification, path: Path, key: str | None, trust: str | None, folder: Path) -> bool:
    """Print whose signature a bundle bears; return whether it is not a foreign one."""
    signer = "" if found.manifest is None else found.manifest.public_key
    if key is not None:
        is_same = signer == key
        text = "signed with the key you named" if is_same else f"FOREIGN KEY: not signed with {key}, but with"
        sys.stdout.write(f"{path}: {text} {signer}\n")
        return is_same
    trusted = TrustedKeys.load(folder)
    if trust is not None:
        trusted.add(folder, signer, trust)
    name = trusted.names.get(signer)
    if name is not None:
        sys.stdout.write(f"{path}: signed by {name or 'a trusted rig'} ({signer})\n")
        return True
    how = "Compare it with the rig's start page, then trust it by --trust NAME, or give it by --key."
    if trusted.names:
        sys.stdout.write(f"{path}: FOREIGN KEY: signed with {signer}, which this computer does not trust. {how}\n")
        return False
    sys.stdout.write(f"{path}: signed with {signer}, of a rig that this computer does not know. {how}\n")
    return True


def _printable(text: str) -> str:
    """Return a text without characters that a terminal would act on: anyone can write into a bundle."""
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)
