"""The first thing that runs: the command is imported where Ctrl-C ends the process without a traceback.

Importing takes a third of a second, in which Python's own handler would print where it was interrupted.
"""

from __future__ import annotations

import os
import signal
import sys


def start() -> None:
    """Import the command, and run it."""
    _open_closed_streams()
    _read_names_as_utf_8()
    # Matrices here are small: threads of the linear algebra would spend more time waiting for one another than on them,
    # beside a live game most of all. It has to be set before NumPy is imported.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:  # nothing is open yet that has to be closed
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from downfield.cli.main import main

    signal.signal(signal.SIGINT, handler)
    main()


def _open_closed_streams() -> None:
    """Open what the command was started without, of input, output and errors: nothing is read, and nothing printed.

    Otherwise a socket or a file of the game would get its number, and what is printed there would end in it.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # it gets the lowest number that is free
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


def _read_names_as_utf_8() -> None:
    """Begin again in Python's UTF-8 mode (PEP 540) where the locale is ASCII and Python was kept from choosing it.

    Otherwise every letter beyond ASCII in an argument, a variable or a file's name would be half a character, and
    folders that the configuration names could not be made. What is printed stays in the terminal's encoding.
    """
    if sys.getfilesystemencoding() == "ascii":
        printed = {"PYTHONIOENCODING": "ascii:backslashreplace"}
        os.execve(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]], printed | os.environ)  # noqa: S606 - itself
