"""``python -m downfield.rig``: the `downfield` command."""

from downfield.rig.cli import main

main()
