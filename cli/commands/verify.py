"""``downfield verify``: whether games are unaltered: a bundle, or a store with what was signed of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Final

import typer

from downfield.capture.recording.segment import compare_recordings, has_recordings, unsealed_recordings
from downfield.cli.console.options import ConfigOption, JsonOption, SetOption, complete_games
from downfield.cli.console.output import print_result, print_stderr
from downfield.core.errors import FormatError, InputError
from downfield.core.texts import counted
from downfield.game.records.entries import SEAL_KIND, SegmentSealed, unpack_entry
from downfield.game.records.owner import rig_id
from downfield.review.bundles.verification import BundleVerification, is_bundle, other_zip_hint, verify_bundle
from downfield.rig.configuration.loading import load
from downfield.rig.configuration.settings import RigSettings, data_folder, store_file
from downfield.rig.games.kept_games import TrustedKeys, heads_file
from downfield.store.database.opening import OpenedForReading, open_for_reading
from downfield.store.database.reader import StoreReader
from downfield.store.sealing.hash_chain import GENESIS, Verification, verify_journal
from downfield.store.sealing.heads import compare_with_heads, entries_after_heads, read_heads
from downfield.store.sealing.signing import is_public_key
from downfield.store.signed_ends import compare_with_tournament, read_signed_ends
from downfield.store.signed_lists import Signer, list_differences, listing_differences, rigs_without_list, signers

STRANGER: Final = 3
"""Status of a bundle that is unaltered, and signed with a key that nothing here speaks for or against."""


def verify(
    store: Annotated[
        str, typer.Argument(metavar="FILE|URL", help="A bundle, the database file of a store, or a database URL.")
    ],
    game: Annotated[
        str | None, typer.Option(help="The id of one game. Default: all games.", autocompletion=complete_games)
    ] = None,
    head: Annotated[
        str | None, typer.Option(help="A digest noted earlier, as receipts show it; only with --game.")
    ] = None,
    key: Annotated[
        list[str] | None,
        typer.Option(
            help="The public key a bundle, the heads, or a store's lists of games must be signed with; the start page"
            " of its rig shows it. Once for each rig of a store of several."
        ),
    ] = None,
    trust: Annotated[
        str | None, typer.Option(metavar="NAME", help="Trust the key of a bundle's rig from now on, under this name.")
    ] = None,
    heads: Annotated[
        Path | None,
        typer.Option(
            help="The file in which the rig signed where each game stood; only for stores. Default: that of this"
            " computer's rig, store.heads, for its own store."
        ),
    ] = None,
    tournament: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The tournament's PostgreSQL, which has what the rig signed for it."),
    ] = None,
    recordings: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="The folder of the recordings, to be checked against their seals in games."
        ),
    ] = None,
    config: ConfigOption = None,
    settings: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check that games are unaltered: a bundle's parts and signature; a store's journals, signed lists and kept heads.

    Exits with status 1 if anything was altered, and names it, and with 3 if a bundle is unaltered, but of a rig whose
    key was never trusted here. Nothing is written: a copy on a read-only disk can be
    checked, and a store while its rig runs.
    """
    keys = checked_keys(key or ())
    configuration = load(config, settings)
    if "://" not in store and is_bundle(Path(store)):
        if any(option is not None for option in (game, head, heads, tournament, recordings)):
            raise InputError(
                "--game, --head, --heads, --tournament and --recordings are for stores. A bundle holds one game and the"
                " head of its journal."
            )
        if len(keys) > 1:
            raise InputError("A bundle is signed with one key. Give one --key.")
        only = keys[0] if keys else None
        found, folder = verify_bundle(Path(store)), data_folder(configuration.settings)
        standing = report_bundle(Path(store), found, only, trust, folder, as_json=as_json)
        if standing:
            raise typer.Exit(standing)
        return
    if "://" not in store and (hint := other_zip_hint(Path(store))):
        raise InputError(f"{store}: is neither a bundle nor a store of games. {hint}")
    if trust is not None:
        raise InputError(f"{store}: is not a bundle of a game. --trust is for bundles.")
    if head is not None and game is None:
        raise InputError("--head belongs to one game. Name the game with --game.")
    list_keys = keys if heads is None and tournament is None else []
    named_heads = heads
    heads = heads or _own_heads(store, configuration.settings)
    with open_for_reading(store) as opened:
        _report_doubts(opened)
        kept = heads is not None or tournament is not None
        names = _games(opened.store, game, are_kept=kept or bool(opened.store.unlisted_games()))
        verifications = [_verified(opened.store, name, head) for name in names]
        differences = list(listing_differences(opened.store, None if game is None else names))
        differences += list_differences(opened.store, game, list_keys)
        rigs = signers(opened.store)
        differences += _strangers(rigs, keys)
        differences += _differences(opened.store, heads, keys, are_named=named_heads is not None)
        differences += _from_tournament(opened.store, tournament, keys, game)
        seals = {} if recordings is None else _seals_here(opened.store, names, recordings)
    for rig, of_rig in seals.items():
        differences += compare_recordings(recordings or Path(), of_rig, rig)
    unlike = tuple(dict.fromkeys(differences))
    lines = (*map(_line, verifications), *map(_signed_line, rigs), *unlike)
    print_result(as_json, lines, games=verifications, rigs=rigs, differences=unlike)
    if recordings is not None:
        _report_recordings(recordings, [seal for of_rig in seals.values() for seal in of_rig])
    if differences or any(verification.problem for verification in verifications):
        raise typer.Exit(1)


def _report_doubts(opened: OpenedForReading) -> None:
    if opened.note:
        print_stderr(f"downfield: {opened.note}")
    for rig in rigs_without_list(opened.store):
        print_stderr(
            f"downfield: rig {rig} has signed no list of its games in this store: only its heads tell whether one was"
            " deleted or cut off."
        )


def _own_heads(store: str, settings: RigSettings) -> Path | None:
    """Return the heads file of this computer's rig where a store is its own and it has one."""
    if settings.store.url or "://" in store:
        is_own = store == settings.store.url
    else:
        is_own = Path(store).absolute() == store_file(settings).absolute()
    kept = heads_file(settings)
    if not is_own or not kept.is_file():
        return None
    print_stderr(f"downfield: compared with the heads that the rig kept in {kept}")
    return kept


def _verified(store: StoreReader, game: str, head: str | None) -> Verification:
    try:
        return verify_journal(game, store.entries(game, after=None), head)
    except FormatError as error:
        return Verification(game, 0, GENESIS, error.problem)


def _strangers(rigs: list[Signer], keys: list[str]) -> Iterator[str]:
    """Yield the rigs of a store whose keys are none of those that were named; none where none was."""
    named = {rig_id(key) for key in keys}
    for rig in rigs:
        if named and rig.rig not in named:
            yield f"{_contents(rig)} are of rig {rig.rig}, whose key is none of those you named."


def _signed_line(rig: Signer) -> str:
    at = f" at {', '.join(rig.tables)}" if rig.tables else ""
    signed = f"signed with {rig.key}" if rig.key else "not signed"
    return f"rig {rig.rig}{at}: {_contents(rig)}, {signed}"


def _contents(rig: Signer) -> str:
    return f"{counted(rig.games, 'game')} and {counted(rig.devices, 'device')}"


def _differences(store: StoreReader, heads: Path | None, keys: list[str], *, are_named: bool) -> list[str]:
    """Return how a store, or the heads file itself, differs from what the rig signed; nothing without one.

    Heads that a person names are to say something of the store; those that this rig keeps may be of before its games.
    """
    if heads is None:
        return []
    try:
        kept = read_heads(heads, keys)
    except FormatError as error:
        return [str(error)]
    for line in () if kept[-1].closed else entries_after_heads(store, kept):
        print_stderr(f"downfield: {heads}: {line}")
    signed_by = {rig_id(head.key) for head in kept}
    missing = sorted(signed_by.intersection(rigs_without_list(store)))
    owners = {row.owner for row in store.games(limit=1_000_000) if row.owner}
    foreign = are_named and owners and not owners & signed_by
    return [
        *([f"{heads}: is of rig {', '.join(sorted(signed_by))}, of which the store has no game."] if foreign else ()),
        *compare_with_heads(store, kept),
        *(f"The list of games and devices that rig {rig} signs in the store is missing." for rig in missing),
    ]


def _from_tournament(store: StoreReader, url: str | None, keys: list[str], game: str | None) -> list[str]:
    """Return how a store differs from what its rigs signed for the tournament; nothing without one."""
    if url is None:
        return []
    owners = {rig_id(key) for key in keys} or {row.owner for row in store.games(limit=1_000_000) if row.owner}
    if not owners:
        raise InputError(f"{store.where}: names no rig. Give its public key with --key.")
    where, signed = read_signed_ends(url, sorted(owners))
    ends = [end for end in signed if game is None or end.game.id == game]
    print_stderr(f"{where}: {len(ends)} signed ends compared")
    return list(compare_with_tournament(store, ends))


def _seals_here(store: StoreReader, games: list[str], folder: Path) -> dict[str, list[SegmentSealed]]:
    """Return the seals of recorded files in the journals of games, by rig.

    Each of several rigs of a store has a folder of its own: of those that have no file in this one nothing is compared.
    """
    owners = {row.id: row.owner or "" for row in store.games(limit=1_000_000)}
    found: dict[str, list[SegmentSealed]] = {}
    for name in games:
        found.setdefault(owners[name], []).extend(_seals(store, name))
    found = {rig: seals for rig, seals in found.items() if seals}
    here = {rig for rig, seals in found.items() if has_recordings(folder, seals)} or set(found)
    for rig in sorted(set(found) - here):
        print_stderr(f"downfield: {folder}: has none of the {len(found[rig])} files that rig {rig} recorded.")
    return {rig: seals for rig, seals in found.items() if rig in here}


def _seals(store: StoreReader, game: str) -> Iterator[SegmentSealed]:
    with suppress(FormatError):  # of an entry that can't be read the journal's own check tells
        for entry in store.entries(game, attachments=False):
            if entry.kind == SEAL_KIND:
                content = unpack_entry(entry.kind, entry.content, where=f"game {game}, entry {entry.seq}")
                if isinstance(content, SegmentSealed):
                    yield content


def _report_recordings(folder: Path, seals: list[SegmentSealed]) -> None:
    print_stderr(f"{folder}: {len(seals)} sealed files checked")
    for name in unsealed_recordings(folder, seals):
        print_stderr(f"downfield: {name}: has no seal. Its rig was killed or plays still, or somebody added it.")


def _games(store: StoreReader, game: str | None, *, are_kept: bool) -> list[str]:
    if game is not None and store.game(game) is None:
        raise InputError(f"{store.where}: the store has no game {game}")
    names = [row.id for row in store.games(limit=1_000_000)] if game is None else [game]
    if not names and not are_kept:
        raise InputError(f"{store.where}: holds no game")
    return names


def _line(verification: Verification) -> str:
    unaltered = f"{verification.entries} entries, unaltered; head {verification.head}"
    return f"{verification.game}: {verification.problem or unaltered}"


def checked_keys(keys: Iterable[str]) -> list[str]:
    """Return public keys that somebody named, each once. Raises InputError: one can't be used."""
    named = list(dict.fromkeys(keys))
    for key in named:
        if not is_public_key(key):
            raise InputError(
                f"'{key}' is no public key. The rig's start page shows it: ed25519: and 43 letters, digits, - and _."
            )
    return named


def report_bundle(
    path: Path, found: BundleVerification, key: str | None, trust: str | None, folder: Path, *, as_json: bool = False
) -> int:
    """Print what the check of a bundle found; return the status to exit with.

    It is 0 where it is as a known rig has signed it, `STRANGER` where that rig is not known, and 1 where it was altered
    or bears a foreign key.

    Args:
        key: the public key it must be signed with; None for any that is trusted.
        trust: what to call its rig, whose key is trusted from now on; None to trust no further key.
        folder: the data folder, where trusted keys are.
    """
    lines = [f"{problem.fault.replace('_', ' ')}: {problem.text}" for problem in found.problems]
    manifest, status = found.manifest, 1
    if not found.intact or manifest is None:
        lines.append("ALTERED. Do not rely on it: ask for the file again.")
    else:
        game = f"{manifest.game}, {manifest.away} at {manifest.home}"
        extent = f"{len(manifest.parts)} parts, {manifest.entries} entries; head {manifest.head}"
        status, signed = _signer(manifest.public_key, key, trust, folder)
        lines += [f"unaltered: game {game}; {extent}", *(f"note: {note}" for note in manifest.notes), signed]
    shown = (f"{path}: {line}" for line in lines)
    print_result(as_json, shown, intact=found.intact, trusted=not status, problems=found.problems, manifest=manifest)
    return status


def _signer(signer: str, key: str | None, trust: str | None, folder: Path) -> tuple[int, str]:
    """Return the status to exit with, and whose signature a bundle bears."""
    trusted = TrustedKeys.load(folder)
    if trust is not None and key in {None, signer}:
        trusted.add(folder, signer, trust)
    if key is not None:
        is_same = signer == key
        text = "signed with the key you named" if is_same else f"FOREIGN KEY: not signed with {key}, but with"
        return int(not is_same), f"{text} {signer}"
    name = trusted.names.get(signer)
    if name is not None:
        return 0, f"signed by {name or 'a trusted rig'} ({signer})"
    how = "Compare it with the rig's start page, then trust it by --trust NAME, or give it by --key."
    if trusted.names:
        return 1, f"FOREIGN KEY: signed with {signer}, which this computer does not trust. {how}"
    return STRANGER, f"signed with {signer}, of a rig that this computer does not know. {how}"
