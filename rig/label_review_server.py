"""Serves a label review in this computer's browser while the command waits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import uvicorn

from downfield.api.label_review import LabelReview
from downfield.core.errors import OutputError
from downfield.core.supervision import supervised_thread
from downfield.rig.web_service import open_listener

_STOP_TIMEOUT_S: Final = 3.0


def serve_label_review(
    review: LabelReview, on_open: Callable[[str], None], *, host: str = "127.0.0.1", port: int = 0
) -> None:
    """Serve a review until the user is done; an interrupt skips the review.

    Args:
        review: the pictures and labels; the user changes the labels.
        on_open: called with the page's address.
        host: the address to serve at.
        port: 0 for any free one.

    Raises:
        InputError: the port can't be opened.
        OutputError: the page can't be served any more.

    """
    listener = open_listener(host, port)
    server = uvicorn.Server(
        uvicorn.Config(review.app(), log_level="warning", access_log=False, lifespan="off", server_header=False)
    )
    failures: list[str] = []

    def serve() -> None:
        try:
            server.run(sockets=[listener])
        finally:
            review.ended.set()  # nobody can end a page that is not served

    thread = supervised_thread(serve, "label review", failures.append)
    thread.start()
    try:
        on_open(f"http://{host}:{listener.getsockname()[1]}/{review.token}/")
        review.ended.wait()
    except KeyboardInterrupt:
        review.skipped = True
    finally:
        server.should_exit = True
        thread.join(_STOP_TIMEOUT_S)
        listener.close()
    if failures:
        raise OutputError(f"The labels can't be checked: their page is no longer served ({failures[0]}). Run it again.")
