"""The check of a bundle by ``downfield verify``: prints what was changed, and whose signature it bears."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from downfield.cli.console.output import say
from downfield.core.errors import InputError
from downfield.review.bundles.verification import BundleVerification
from downfield.rig.trusted_keys import TrustedKeys
from downfield.store.sealing.signing import is_public_key


def checked_keys(keys: Iterable[str]) -> list[str]:
    """Return public keys that somebody named, each once.

    Raises:
        InputError: one can't be used.

    """
    named = list(dict.fromkeys(keys))
    for key in named:
        if not is_public_key(key):
            raise InputError(
                f"'{key}' is no public key. The rig's start page shows it: ed25519: and 43 letters, digits, - and _."
            )
    return named


def report_bundle(path: Path, found: BundleVerification, key: str | None, trust: str | None, folder: Path) -> bool:
    """Print what the check of a bundle found; return whether it is as a rig that is not foreign has signed it.

    Args:
        path: the bundle.
        found: by its check.
        key: the public key it must be signed with; None for any that is trusted.
        trust: what to call its rig, whose key is trusted from now on; None to trust no further key.
        folder: the data folder, where trusted keys are.

    """
    for problem in found.problems:
        say(f"{path}: {problem.fault.replace('_', ' ')}: {problem.text}")
    manifest = found.manifest
    if not found.intact or manifest is None:
        say(f"{path}: ALTERED. Do not rely on it: ask for the file again.")
        return False
    game = f"{manifest.game}, {manifest.away} at {manifest.home}"
    extent = f"{len(manifest.parts)} parts, {manifest.entries} entries; head {manifest.head}"
    say(f"{path}: unaltered: game {game}; {extent}")
    for note in manifest.notes:
        say(f"{path}: note: {note}")
    return _is_known(found, path, key, trust, folder)


def _is_known(found: BundleVerification, path: Path, key: str | None, trust: str | None, folder: Path) -> bool:
    """Print whose signature a bundle bears; return whether it is not a foreign one."""
    signer = "" if found.manifest is None else found.manifest.public_key
    trusted = TrustedKeys.load(folder)
    if trust is not None and key in {None, signer}:
        trusted.add(folder, signer, trust)
    if key is not None:
        is_same = signer == key
        text = "signed with the key you named" if is_same else f"FOREIGN KEY: not signed with {key}, but with"
        say(f"{path}: {text} {signer}")
        return is_same
    name = trusted.names.get(signer)
    if name is not None:
        say(f"{path}: signed by {name or 'a trusted rig'} ({signer})")
        return True
    how = "Compare it with the rig's start page, then trust it by --trust NAME, or give it by --key."
    if trusted.names:
        say(f"{path}: FOREIGN KEY: signed with {signer}, which this computer does not trust. {how}")
        return False
    say(f"{path}: signed with {signer}, of a rig that this computer does not know. {how}")
    return True
