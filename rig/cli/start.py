"""The first thing that runs: the command is imported where Ctrl-C ends the process without a traceback.

Importing takes a third of a second, in which Python's own handler would print where it was interrupted.
"""

from __future__ import annotations

import signal


def start() -> None:
    """Import the command, and run it."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:  # nothing is open yet that has to be closed
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from downfield.rig.cli.main import main

    signal.signal(signal.SIGINT, handler)
    main()
