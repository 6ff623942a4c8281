"""A collection of garbage before the frames begin, in a thread of its own."""

from __future__ import annotations

import gc

from downfield.core.supervision import only_logged, supervised_thread


def set_aside_loaded_objects() -> None:
    """Collect garbage, and keep what is loaded out of later collections: one between two frames would take 0.1 s.

    Not in the thread that gets the signals: a collection calls what objects leave to be called at their end, and the
    KeyboardInterrupt of a SIGTERM that arrives there would be lost, with which the rig went on playing.
    """
    collection = supervised_thread(_collect, "garbage", only_logged)
    collection.start()
    collection.join()
    gc.freeze()


def _collect() -> None:
    gc.collect()
