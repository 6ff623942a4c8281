"""``downfield config``: print the configuration in effect."""

from __future__ import annotations

from downfield.cli.console.options import ConfigOption, SetOption
from downfield.cli.console.output import say
from downfield.rig.configuration.display import as_toml
from downfield.rig.configuration.loading import load, parse_assignments


def config(file: ConfigOption = None, settings: SetOption = None) -> None:
    """Print the configuration in effect, and where each value comes from."""
    configuration = load(file, command_line=parse_assignments(settings or ()))
    say(f"# {configuration.file}" if configuration.file else "# no file: defaults")
    say(*(f"# {former} is read as {key}, its present name" for former, key in configuration.renamed.items()))
    say(*"\n".join(as_toml(configuration)).split("\n"))
