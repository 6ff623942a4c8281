"""What errors of FFmpeg mean for somebody who opens a network stream: many name none of what happened."""

from __future__ import annotations

import errno
from typing import Final

import av

from downfield.capture.sources.http_mjpeg import error_text

_REFUSALS: Final[tuple[tuple[type[Exception], str], ...]] = (
    (av.error.ExitError, "nothing arrived in time"),
    (
        av.error.ProtocolNotFoundError,
        "this installation's FFmpeg does not speak its protocol. Have the camera send RTSP",
    ),
    (av.error.HTTPNotFoundError, "it has no stream of that path. Name the path of the camera's video stream"),
    (av.error.HTTPForbiddenError, "it refuses the stream to this user or computer. See who may watch in its settings"),
    (av.error.HTTPServerError, "it answers with a fault of its own. Restart the camera"),
    (av.error.HTTPClientError, "it refuses the request. Name the path of the camera's video stream"),
)
"""Errors and what they mean, the narrower before the wider."""

_RTSP: Final = frozenset({"rtsp", "rtsps"})
_BY_NAME: Final = frozenset({"rtsp", "tcp", "udp", "rtp"})
"""Protocols of which FFmpeg reports an input or output error only when the host's name is not known."""

_LATE: Final = "it gave no whole answer in time. Look whether the address and port are the camera's, and restart it"
_NOT_RTSP: Final = "its answer is not RTSP, or breaks off. Look whether the address and port are the camera's"
_NO_TRANSPORT: Final = "it sends neither by TCP nor by UDP to a single viewer. Change that in its settings"

_NO_HOST: Final = "no computer of that name is found. Name the camera by its IP address"
_ESCAPED: Final = "In a password write @ and / as %40 and %2F"


def stream_error_text(error: Exception, *, scheme: str = "", late: bool = False, has_password: bool = False) -> str:
    """Return what an error of a network stream means, as a phrase.

    Args:
        error: of FFmpeg or the operating system.
        scheme: of the stream's address while it is opened; empty later.
        late: whether the time for opening was over. FFmpeg is interrupted then, and reports whatever it was at: often
            invalid data, or an operation that is not permitted.
        has_password: whether a user name or a password was sent.

    """
    if isinstance(error, av.error.HTTPUnauthorizedError):
        if has_password:
            return "it refuses the user name or the password"
        return "it wants a user name and a password. Write them as rtsp://USER:PASSWORD@HOST/PATH"
    text = next((text for kind, text in _REFUSALS if isinstance(error, kind)), None)
    if text is not None:
        return text
    if late:
        return _LATE
    number = getattr(error, "errno", None)
    if scheme in _BY_NAME and number == errno.EIO:
        return f"{_NO_HOST}. {_ESCAPED}" if has_password else _NO_HOST
    if scheme in _RTSP and isinstance(error, av.InvalidDataError):
        return _NOT_RTSP
    if scheme in _RTSP and number == errno.EPROTONOSUPPORT:
        return _NO_TRANSPORT
    return error_text(error)
