"""``downfield archive judge`` and ``track``: a selection of an archive again, here or on a cluster."""

from __future__ import annotations

import sys
from contextlib import ExitStack, redirect_stdout
from pathlib import Path
from typing import Annotated

import typer

from downfield.cli.console.output import say, say_aside
from downfield.cli.console.process_end import INTERRUPTED, ended_in_order
from downfield.cli.console.progress import progress_bar
from downfield.cli.desk.archive_options import ArchiveArgument, IndexOption, SelectionArgument, select_items
from downfield.core.errors import InputError, OutputError
from downfield.desk.archive.archive_files import ArchiveFiles
from downfield.desk.archive.cluster import RayCluster, connect_cluster
from downfield.desk.archive.job import ArchiveJob, JobReport, JobSettings
from downfield.desk.archive.networks import describe_network, share_network
from downfield.game.records.entries import RulebookRecord, record_of
from downfield.models.card import BUNDLED
from downfield.officiating.rulebooks.rulebook import load_rulebook

OutOption = Annotated[
    Path, typer.Option("--out", "-o", metavar="FOLDER", help="Write games, calls and changes here, as Parquet.")
]
RayOption = Annotated[
    str | None,
    typer.Option(
        "--ray", metavar="ADDRESS", help="A Ray cluster: HOST:PORT, ray://HOST:PORT, or auto on one of its machines."
    ),
]
WorkersOption = Annotated[
    int | None,
    typer.Option("--workers", min=1, max=1024, help="Games at a time on this computer. Default: one a processor."),
]
ResultsOption = Annotated[
    str | None,
    typer.Option("--results", metavar="URL", help="Keep what is finished there. Default: in the archive itself."),
]
RulebookOption = Annotated[
    str | None,
    typer.Option(
        "--rulebook", help="Judge under this installed rulebook or league's .toml file. Default: each game's own."
    ),
]
NetworkOption = Annotated[
    str, typer.Option("--network", metavar="NAME|FOLDER", help="A bundled network, or the folder of another.")
]
HouseRulesOption = Annotated[
    Path | None, typer.Option("--house-rules", metavar="FILE", help="Judge under the house rules of a .toml file.")
]


def judge(
    archive: ArchiveArgument,
    selection: SelectionArgument,
    out: OutOption,
    rulebook: RulebookOption = None,
    house_rules: HouseRulesOption = None,
    ray: RayOption = None,
    workers: WorkersOption = None,
    results: ResultsOption = None,
    index: IndexOption = None,
) -> None:
    """Judge games again: by this version, under another rulebook, or under house rules.

    What is finished is kept game by game: after Ctrl-C, or where games failed, the same command does only the rest.
    Exits with status 1 if a game failed; its row in games.parquet has the reason.
    """
    settings = JobSettings.of(_chosen_rulebook(rulebook, house_rules))
    files = ArchiveFiles.at(archive)
    kept = files if results is None else ArchiveFiles.at(results)
    items = select_items(files, selection or [], index)
    run_job(ArchiveJob(settings, files, kept, items), out, ray, workers)


def track(
    archive: ArchiveArgument,
    selection: SelectionArgument,
    out: OutOption,
    network: NetworkOption = BUNDLED,
    rulebook: RulebookOption = None,
    house_rules: HouseRulesOption = None,
    ray: RayOption = None,
    workers: WorkersOption = None,
    results: ResultsOption = None,
    index: IndexOption = None,
) -> None:
    """Track recordings again by a network, and judge them: what it would have called.

    Takes bundles with a video, and recordings. Otherwise as `downfield archive judge`; the tracks go to FOLDER/tracks.
    """
    described = describe_network(network)
    settings = JobSettings.of(_chosen_rulebook(rulebook, house_rules), described)
    files = ArchiveFiles.at(archive)
    kept = files if results is None else ArchiveFiles.at(results)
    items = select_items(files, selection or [], index)
    share_network(described, network, kept)
    run_job(ArchiveJob(settings, files, kept, items), out, ray, workers)


def run_job(job: ArchiveJob, out: Path, ray: str | None, workers: int | None) -> None:
    """Run a job with its progress on standard error, and report what became of it.

    Args:
        job: the job.
        out: folder for the tables; made.
        ray: address of a cluster; None for this computer.
        workers: games at a time on this computer; None for one a processor.

    Raises:
        InputError: the options exclude each other, or no cluster answers.
        OutputError: the folder can't be written.
        typer.Exit: with status 1 where a game failed, 130 where it was interrupted.

    """
    if ray is not None and workers is not None:
        raise InputError("--workers is for this computer; a cluster has as many as it has. Leave one of both out.")
    _make_folder(out)
    shown = [0, len(job.items)]
    try:
        with ended_in_order(), ExitStack() as closing:
            advance = closing.enter_context(progress_bar("Judging" if job.settings.network is None else "Tracking"))

            def show(done: int, total: int) -> None:
                shown[:] = done, total
                advance(done, total)

            def connect() -> RayCluster:
                advance(shown[0], shown[1], "connecting to the cluster" if ray else "starting workers")
                closing.enter_context(redirect_stdout(sys.stderr))  # where Ray tells of workers that died
                cluster = closing.enter_context(connect_cluster(ray, workers))
                advance(shown[0], shown[1], f"connected, {cluster.cpus:g} at a time")
                return cluster

            report = job.run(connect, show, out)
    except KeyboardInterrupt:
        say_aside(f"stopped: {shown[0]} of {shown[1]} games are done. The same command does the rest.")
        raise typer.Exit(INTERRUPTED) from None
    _report(report, out)


def _report(report: JobReport, out: Path) -> None:
    games = report.games
    for game in report.failed:
        say(f"{game.item[:12]}  {game.game}: failed: {game.reason}")
    calls, changes = sum(game.calls for game in games), sum(game.changes for game in games)
    changed = sum(game.changes > 0 for game in games)
    done = f"{len(games) - len(report.failed)} of {len(games)} games done"
    known = f", {report.before} of them before" if report.before else ""
    say(f"{done}{known}: {calls} calls; {changes} of them changed, in {changed} games. {out}")
    if report.failed:
        raise typer.Exit(1)


def _chosen_rulebook(rulebook: str | None, house_rules: Path | None) -> RulebookRecord | None:
    """Return the rulebook that options name; None where each game keeps its own."""
    if rulebook is not None and house_rules is not None:
        raise InputError("Give --rulebook or --house-rules, not both: a file of house rules names its rulebook.")
    if house_rules is not None:
        name = str(house_rules) if house_rules.suffix == ".toml" else f"{house_rules.parent}/{house_rules.name}"
        return record_of(load_rulebook(name))
    return None if rulebook is None else record_of(load_rulebook(rulebook))


def _make_folder(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise InputError(f"{out}: is a file. Name a folder for the tables.") from None
    except OSError as error:
        raise OutputError(f"{out}: can't be made: {error.strerror}") from None
