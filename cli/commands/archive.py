"""``downfield archive``: a league's games and recordings in one place, found, checked, and judged or tracked again."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack, redirect_stdout
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from downfield.cli.console.options import ConfigOption, JsonOption, SetOption, complete_networks
from downfield.cli.console.output import json_text, open_console, print_error, print_result, print_stderr, print_stdout
from downfield.cli.console.process_end import INTERRUPTED, ended_in_order
from downfield.cli.console.progress import progress_bar, with_progress
from downfield.core.errors import InputError, OutputError
from downfield.core.records import to_json
from downfield.desk.archive.archive_files import ArchiveFiles
from downfield.desk.archive.cluster import RayCluster, connect_cluster
from downfield.desk.archive.index import all_items, parse_selection
from downfield.desk.archive.items import ArchivedItem, ItemLabels, add_files, addable_files, item_ids
from downfield.desk.archive.job import ArchiveJob, JobReport, JobSettings
from downfield.desk.archive.judging import check_item
from downfield.desk.archive.tracking import describe_network, share_network
from downfield.game.records.entries import RulebookRecord, record_of
from downfield.models.card import BUNDLED
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.rig.configuration.loading import load
from downfield.rig.configuration.settings import data_folder
from downfield.rig.games.kept_games import TrustedKeys

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
    str,
    typer.Option(
        "--network",
        metavar="NAME|FOLDER",
        help="A bundled network, or the folder of another.",
        autocompletion=complete_networks,
    ),
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
    as_json: JsonOption = False,
) -> None:
    """Judge games again: by this version, under another rulebook, or under house rules.

    What is finished is kept game by game: after Ctrl-C, or where games failed, the same command does only the rest.
    Exits with status 1 if a game failed; its row in games.parquet has the reason.
    """
    settings = JobSettings.of(_chosen_rulebook(rulebook, house_rules))
    files = ArchiveFiles.at(archive)
    kept = files if results is None else ArchiveFiles.at(results)
    items = select_items(files, selection or [], index)
    run_job(ArchiveJob(settings, files, kept, items), out, ray, workers, as_json=as_json)


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
    as_json: JsonOption = False,
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
    run_job(ArchiveJob(settings, files, kept, items), out, ray, workers, as_json=as_json)


def run_job(job: ArchiveJob, out: Path, ray: str | None, workers: int | None, *, as_json: bool = False) -> None:
    """Run a job with its progress on standard error, and report what became of it.

    Args:
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
        print_stderr(f"stopped: {shown[0]} of {shown[1]} games are done. The same command does the rest.")
        raise typer.Exit(INTERRUPTED) from None
    _report(report, out, as_json=as_json)


def _report(report: JobReport, out: Path, *, as_json: bool) -> None:
    games = report.games
    lines = [f"{game.item[:12]}  {game.game}: failed: {game.reason}" for game in report.failed]
    calls, changes = sum(game.calls for game in games), sum(game.changes for game in games)
    changed = sum(game.changes > 0 for game in games)
    done = f"{len(games) - len(report.failed)} of {len(games)} games done"
    known = f", {report.before} of them before" if report.before else ""
    lines.append(f"{done}{known}: {calls} calls; {changes} of them changed, in {changed} games. {out}")
    failed = [game.game for game in report.failed]
    print_result(as_json, lines, folder=out, games=len(games), failed=failed, calls=calls, changes=changes)
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


ArchiveArgument = Annotated[
    str, typer.Argument(metavar="ARCHIVE", help="The archive: a folder, or an address such as s3://BUCKET/PATH.")
]
SelectionArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="SELECTION...",
        help="all; ids of items or games; or conditions: team=, event=, season=, table=, rulebook=, title=, game=,"
        " kind=, date=, since=, until=. Values of one key are alternatives, all keys must hold.",
    ),
]
IndexOption = Annotated[
    str | None,
    typer.Option(
        "--index",
        metavar="URL",
        help="Keep the index in a database: postgresql://..., or sqlite:///FILE. Default: in memory, made anew.",
    ),
]


def select_items(files: ArchiveFiles, words: Sequence[str], index: str | None) -> tuple[ArchivedItem, ...]:
    """Return the items of an archive that words select, by their beginning.

    Raises:
        InputError: a word is unknown, or nothing is selected.
        StorageError, FormatError, OutputError, MissingExtraError: the archive or its index can't be used.
    """
    selection = parse_selection(words)
    found = tuple(selection.find(all_items(files, index)))
    if not found and selection == parse_selection(()):
        raise InputError(f"{files.shown}: there is no archive here, or it is empty. 'downfield archive add' fills one.")
    if not found:
        raise InputError(f"{files.shown}: holds nothing with {' '.join(words)}")
    return found


app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="A league's archive: bundles and recordings in a folder or an object store, judged again on many machines.",
)
app.command("judge")(judge)
app.command("track")(track)

_FAULT = 1  # Exit status where something was refused, altered or failed


@app.command()
def add(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="FILES...", help="Bundles, videos with a calibration beside them, or folders of both."),
    ],
    to: Annotated[str, typer.Option("--to", metavar="URL", help="The archive: a folder, or s3://BUCKET/PATH.")],
    event: Annotated[str, typer.Option(help="The event. Default: the one that they were started for.")] = "",
    season: Annotated[str, typer.Option(help="The season. Default: the year in which they began.")] = "",
    table: Annotated[str, typer.Option(help="Of recordings: the table they are of.")] = "",
    rulebook: Annotated[str, typer.Option(help="Of recordings: the rulebook they were played under.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Check bundles and recordings, and add them to an archive. What is there already is left as it is."""
    files = ArchiveFiles.at(to)
    named = [file for path in paths for file in addable_files(path)]
    known = set(item_ids(files))
    refused = 0
    labels = ItemLabels(event, season, table, rulebook)
    for added in add_files(files, named, labels, known):
        refused += added.state == "refused"
        if as_json:
            print_stdout(json_text(added))
        elif added.state == "refused":
            print_error(f"refused: {added.text}")
        else:
            print_stdout(f"{added.path}: {added.text}")
    if refused:
        print_error(f"{refused} of {len(named)} were refused.")
        raise typer.Exit(_FAULT)


@app.command("list")
def list_items(
    archive: ArchiveArgument,
    selection: SelectionArgument = None,
    as_json: JsonOption = False,
    index: IndexOption = None,
) -> None:
    """List what an archive holds, by its beginning."""
    files = ArchiveFiles.at(archive)
    items = select_items(files, selection or ["all"], index)
    if as_json:
        print_stdout(*(to_json(ArchivedItem, item) for item in items))
    elif sys.stdout.isatty():
        table = Table(*_HEADINGS, box=None, padding=(0, 1))
        for item in items:
            table.add_row(*_columns(item))
        open_console(wrap=True).print(table)
    else:
        print_stdout(*("  ".join(filter(None, _columns(item))) for item in items))


@app.command()
def verify(
    archive: ArchiveArgument,
    selection: SelectionArgument = None,
    index: IndexOption = None,
    config: ConfigOption = None,
    settings: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check every byte and every signature. Exits with status 1 if anything was altered or bears a foreign key."""
    trusted = TrustedKeys.load(data_folder(load(config, settings).settings))
    files = ArchiveFiles.at(archive)
    items = select_items(files, selection or ["all"], index)
    bad = 0
    for item in with_progress(items, "Checking", len(items)):
        checked = check_item(files, item, trusted)
        bad += not checked.good
        if as_json:
            print_stdout(json_text({"id": item.id, "game": item.game, "good": checked.good, "text": checked.text}))
        else:
            print_stdout(f"{item.short}  {item.game}: {checked.text}")
    if not as_json:
        print_stdout(f"{len(items)} checked, {bad} not in order" if bad else f"{len(items)} checked, all in order")
    if bad:
        raise typer.Exit(_FAULT)


_HEADINGS = ("id", "began (UTC)", "table", "game", "teams", "score", "rulebook", "event", "season", "kind")


def _columns(item: ArchivedItem) -> tuple[str, ...]:
    teams = f"{item.away} at {item.home}" if item.home or item.away else ""
    kind = f"{item.kind}, video" if item.kind == "bundle" and item.video else item.kind
    score = "" if item.score is None else f"{item.score[1]} to {item.score[0]}"  # as the teams stand in the row
    known = (item.table, item.game, teams, score, item.rulebook, item.event, item.season)
    return item.short, item.began_text, *known, kind
