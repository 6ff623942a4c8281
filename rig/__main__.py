"""``python -m downfield.rig``: the `downfield` command."""

from downfield.rig.cli.main import main

main()
