"""``python -m downfield``: the `downfield` command."""

from downfield.cli.start import start

start()
