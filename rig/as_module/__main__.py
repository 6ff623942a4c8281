"""``python -m downfield``: the `downfield` command."""

from downfield.rig.cli.main import main

main()
