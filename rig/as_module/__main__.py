"""``python -m downfield``: the `downfield` command."""

from downfield.rig.cli.start import start

start()
