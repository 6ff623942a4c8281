"""The `downfield` command: a table of sub-commands, each imported only when it is used."""

from __future__ import annotations

import ast
import gc
import logging
import os
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from downfield.cli.console.output import SHARED, check_writable, end_output, print_error, print_stdout, version_text
from downfield.cli.console.process_end import INTERRUPTED, ProcessEnd
from downfield.core.errors import DownfieldError
from downfield.rig.configuration.loading import FILE_NAME

COMMANDS: Final = {
    "demo": "downfield.cli.commands.run:demo",
    "run": "downfield.cli.commands.run:run",
    "score": "downfield.cli.commands.score:score",
    "card": "downfield.cli.commands.score:card",
    "admin": "downfield.cli.commands.service:admin",
    "doctor": "downfield.cli.commands.diagnosis:doctor",
    "config": "downfield.cli.commands.diagnosis:config",
    "track": "downfield.cli.commands.track:track",
    "judge": "downfield.cli.commands.judge:judge",
    "convert": "downfield.cli.commands.export:convert",
    "rules": "downfield.cli.commands.rules:rules",
    "calibrate": "downfield.cli.commands.calibrate:app",
    "tables": "downfield.cli.commands.tables:app",
    "certify": "downfield.cli.commands.certify:certify",
    "service": "downfield.cli.commands.service:app",
    "logs": "downfield.cli.commands.service:logs",
    "backup": "downfield.cli.commands.diagnosis:backup",
    "restore": "downfield.cli.commands.diagnosis:restore",
    "support": "downfield.cli.commands.diagnosis:support",
    "export": "downfield.cli.commands.export:export",
    "review": "downfield.cli.commands.review:review",
    "desk": "downfield.cli.commands.desk:app",
    "archive": "downfield.cli.commands.archive:app",
    "verify": "downfield.cli.commands.verify:verify",
    "shadow": "downfield.cli.commands.export:shadow",
    "contribute": "downfield.cli.commands.contribute:contribute",
    "learn": "downfield.training.learn_command:learn",
    "train": "downfield.training.command:app",
    "twin": "downfield.twin.commands:app",
}
"""Module and name of each sub-command: a function, or a Typer app with further sub-commands."""

_USER_ERROR: Final = 2  # exit status

_MISSING_LIBRARY: Final = re.compile(r"(lib\S+\.so[.\d]*): cannot open shared object file")
"""What the linker of Linux says when a package can't be imported for want of a library of the system."""


class LazyCommands(TyperGroup):
    """A group that lists its commands by their sources, and imports only the one that is used."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name in COMMANDS:
            self.add_command(TyperCommand(name))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command as it is listed: its name and help."""
        listed = super().get_command(ctx, cmd_name)
        if listed is not None and listed.help is None:
            listed.help = _help_of(cmd_name)
        return listed

    def invoke(self, ctx: Any) -> Any:
        """Run the command; what it was told holds for it alone, also where one of its options is refused."""
        told = SHARED.quiet, SHARED.overwrite  # not `verbose`, of which an error that ends the command still asks
        try:
            return super().invoke(ctx)
        finally:
            SHARED.quiet, SHARED.overwrite = told

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the name that the arguments begin with, its command, imported, and the other arguments."""
        if args[0] in COMMANDS:
            return args[0], load_command(args[0]), args[1:]
        return super().resolve_command(ctx, args)


def load_command(name: str) -> Any:
    """Import a command of the table and return it."""
    module, _, attribute = COMMANDS[name].partition(":")
    command = getattr(_imported(module), attribute)
    if isinstance(command, typer.Typer):
        loaded = typer.main.get_command(command)
        loaded.name = name
    else:
        single = typer.Typer(add_completion=False)
        single.command(name)(command)
        loaded = typer.main.get_command(single)
    _share_options(loaded)
    return loaded


EXIT_STATUSES: Final = (
    "Exit status: 0 done; 1 a fault was found; 2 wrong input or use; 3 done, but most of it was lost; 130 interrupted."
)

_WRITES: Final = frozenset(
    ("out", "output", "report", "picture", "sheet", "clip", "highlights", "write_field", "calibration_out", "field_out")
)
"""What options and arguments that name an output are called."""


def _share_options(command: Any) -> None:
    """Give a command, or those of a group, the options that every command has, and say what its status means."""
    for one in getattr(command, "commands", {}).values():
        _share_options(one)
    if hasattr(command, "commands"):
        return
    own = {option.name for option in command.params}
    options = {option.name: option for option in typer.main.get_command(_shared).params}
    if not own & _WRITES:
        del options["overwrite"]
    for param in command.params:
        if param.name in _WRITES:
            param.callback = partial(_writable, param.callback)
    command.params += [option for name, option in options.items() if name not in own]
    command.epilog = EXIT_STATUSES


def _writable(then: Callable[..., Any] | None, context: Any, param: Any, value: Any) -> Any:
    """Refuse an output that can't be written, before the command begins."""
    if value is not None and str(value) != "-" and not context.resilient_parsing:
        check_writable(Path(value))
    return value if then is None else then(context, param, value)


def _flag(text: str, *names: str) -> Any:
    """Return an option that is noted in `SHARED`."""
    name = names[0].removeprefix("--")

    def take(context: typer.Context, value: bool) -> None:
        if context.resilient_parsing:  # a shell asks how a line may go on
            return
        if name == "verbose" and value:
            logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s", force=True)
        setattr(SHARED, name, value)

    return typer.Option(*names, help=text, callback=take, expose_value=False)


_shared: Final = typer.Typer(add_completion=False)


@_shared.command()
def _options(
    quiet: Annotated[bool, _flag("Print results and errors alone.", "--quiet", "-q")] = False,
    verbose: Annotated[bool, _flag("Also print what is done, and an error's origin.", "--verbose", "-v")] = False,
    overwrite: Annotated[bool, _flag("Replace results that exist already.", "--overwrite")] = False,
) -> None:
    """Stand for what every command has."""


def _help_of(name: str) -> str:
    """Return a command's help as its source has it: importing all of them takes two seconds."""
    module, _, attribute = COMMANDS[name].partition(":")
    found = find_spec(module)
    if found is None or found.origin is None:
        return ""
    source = ast.parse(Path(found.origin).read_bytes())
    for node in source.body:
        if isinstance(node, ast.FunctionDef):
            decorators = map(ast.unparse, node.decorator_list)
            if node.name == attribute or any(one.startswith(f"{attribute}.callback") for one in decorators):
                return ast.get_docstring(node) or ""
    given = (word.value for word in ast.walk(source) if isinstance(word, ast.keyword) and word.arg == "help")
    return str(next((value.value for value in given if isinstance(value, ast.Constant)), ""))


def _imported(module: str) -> ModuleType:
    """Import a command's module, without a look for garbage in it then or later: it stays, and looks take time."""
    if module in sys.modules or not gc.isenabled():
        return import_module(module)
    gc.disable()
    try:
        return import_module(module)
    finally:
        gc.freeze()
        gc.enable()


app = typer.Typer(
    cls=LazyCommands,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    help="The automatic referee for tabletop electric football.",
    epilog=EXIT_STATUSES,
)


@app.callback()
def _root(
    context: typer.Context,
    show_version: Annotated[bool, typer.Option("--version", "-V", help="Print the version.")] = False,
) -> None:
    """The automatic referee for tabletop electric football."""
    if show_version:
        print_stdout(version_text())
        raise typer.Exit
    if context.invoked_subcommand is None:
        print_stdout(*welcome().splitlines())


def main() -> None:
    """Run the command that the process was started with, and end in order."""
    end = ProcessEnd()
    end.status = run_command()
    sys.exit(end.status)


def run_command(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status: 2 and one line on standard error for what the user can fix.

    So is an error of the system about a file that no command expected, such as a name that is too long or that has
    letters which the names of files can't have in an 8-bit locale. So is a library that the system lacks: OpenCV loads
    some that a computer without a desktop may not have.

    Args:
        arguments: of the command; None for those of the process.
    """
    try:
        try:
            app(None if arguments is None else list(arguments))
        finally:
            end_output()
    except DownfieldError as error:
        if SHARED.verbose:
            print_error(*traceback.format_exc().splitlines())
        print_error(f"downfield: {error}")
    except ImportError as error:
        library = _MISSING_LIBRARY.search(str(error))
        if library is None:
            raise
        print_error(
            f"downfield: this system lacks the library {library[1]}. Install what OpenCV needs, on Debian, Ubuntu and"
            " Raspberry Pi OS: sudo apt install libgl1 libglib2.0-0 libxcb1"
        )
    except OSError as error:
        if error.filename is None:  # nothing that was named is to blame
            raise
        print_error(f"downfield: {os.fsdecode(error.filename)}: {error.strerror}")
    except UnicodeEncodeError as error:
        encoding = sys.getfilesystemencoding()
        if encoding == "utf-8":
            raise
        print_error(
            f"downfield: {error.object}: this locale's file names ({encoding}) lack some of its letters. Set another"
            " locale, such as LC_ALL=C.UTF-8, or PYTHONUTF8=1."
        )
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    else:
        return 0
    return _USER_ERROR


_FIRST_STEPS: Final = (
    ("downfield demo", "watch it referee a recorded play; nothing needs to be connected"),
    ("downfield run --source game.mp4", "referee a video of yours, filmed from above"),
    ("downfield doctor --source 0", "check your camera, its light and focus, the disk and this computer"),
    ("downfield run --source 0 --lan", "referee your table; the page it names helps to set it up and pairs your phone"),
    ("downfield --help", "every command"),
)


def welcome() -> str:
    """Return the first steps for a newcomer, several lines."""
    width = max(len(command) for command, _ in _FIRST_STEPS)
    steps = "\n".join(f"  {command:<{width}}  {meaning}" for command, meaning in _FIRST_STEPS)
    settings = f"\n\nSettings of {FILE_NAME} in this folder are in effect." if Path(FILE_NAME).is_file() else ""
    return (
        f"Downfield {version('downfield')}, the automatic referee for tabletop electric football.\n"
        "One camera over the board sees where every base is, who touched whom and who fell, and makes the calls.\n\n"
        f"{steps}{settings}"
    )
