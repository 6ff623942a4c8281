"""Letting somebody look over pictures in a browser at this computer, while the command waits."""

from __future__ import annotations

import threading
from collections.abc import Callable

import uvicorn

from downfield.api.label_review import LabelReview
from downfield.rig.service import listening_at

_ENDING_S = 3.0


def serve_label_review(
    review: LabelReview, opened: Callable[[str], None], *, host: str = "127.0.0.1", port: int = 0
) -> None:
    """Serve the pictures until whoever looks is done; an interrupt skips the looking over.

    Args:
        review: the pictures; changed by whoever looks.
        opened: told the page's address.
        host: of this computer alone, usually.
        port: 0 for any.

    Raises:
        InputError: the port can't be opened.

    """
    listening = listening_at(host, port)
    server = uvicorn.Server(
        uvicorn.Config(review.app(), log_level="warning", access_log=False, lifespan="off", server_header=False)
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, name="look over", daemon=True)
    thread.start()
    try:
        opened(f"http://{host}:{listening.getsockname()[1]}/{review.token}/")
        review.ended.wait()
    except KeyboardInterrupt:
        review.skipped = True
    finally:
        server.should_exit = True
        thread.join(_ENDING_S)
