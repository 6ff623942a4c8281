"""The detector of the two networks: figures, the ball and hands in whole frames, in one pass.

A YOLO pose network in kind: anchor-free, one head at stride 8, whose channels are those of
`downfield.models.frame_detector`. The ball, four pixels wide in the input, has a branch of its own that sees stride 4;
`join_branches` puts its output into the head.
"""

from __future__ import annotations

from typing import Final

import torch
from torch import Tensor, nn

from downfield.models.frame_detector import KEYPOINTS, STRIDE_PX
from downfield.training.networks.blocks import (
    ResidualBlock,
    convolution,
    doubled,
    in_full_precision,
    normalized_convolution,
    residual_blocks,
)

POSE_KINDS: Final = (0, 1, 3)
"""Classes of the pose branch, as rows of `downfield.models.card.KINDS`: all but the ball."""

POSE_CHANNELS: Final = 4 + len(POSE_KINDS) + 3 * KEYPOINTS + 2 * KEYPOINTS
"""Of a cell in the pose branch: box, classes, keypoints with logits of being visible, spreads."""

BALL_CHANNELS: Final = 3
"""Of a cell in the ball branch: logit, and offset to the right and down from the cell's center, cells."""

_WIDTHS: Final = (16, 32, 64, 96, 128)  # channels at a half, a quarter, ... of the frame
_INNER: Final = (32, 64, 64)  # of residual blocks at an eighth, a sixteenth and a thirty-second
_DEPTHS: Final = (1, 2, 1)  # residual blocks there
_BALL_WIDTH: Final = 32
_RARE_LOGIT: Final = -4.6  # at first: hardly any cell has something
_USUAL_REACH: Final = 1.5  # cells from a figure's middle to its box, at first
_HALF_BALL_CELLS: Final = 7.0 / STRIDE_PX  # half a ball's box, with a margin


class DetectorNetwork(nn.Module):
    """The detector.

    Input is red, green, blue in 0..1, shape (n, 3, height, width), both multiples of 32. Output are the two branches,
    shapes (n, `POSE_CHANNELS`, height / 8, width / 8) and (n, `BALL_CHANNELS`, height / 8, width / 8).
    """

    def __init__(self) -> None:
        super().__init__()
        half, quarter, eighth, sixteenth, last = _WIDTHS
        self.stem = nn.Sequential(convolution(3, half, 2), convolution(half, quarter, 2))
        self.at_8 = nn.Sequential(convolution(quarter, eighth, 2), *residual_blocks(_DEPTHS[0], eighth, _INNER[0]))
        self.at_16 = nn.Sequential(
            convolution(eighth, sixteenth, 2), *residual_blocks(_DEPTHS[1], sixteenth, _INNER[1])
        )
        self.at_32 = nn.Sequential(convolution(sixteenth, last, 2), *residual_blocks(_DEPTHS[2], last, _INNER[2]))
        self.from_32 = normalized_convolution(last, sixteenth, 1)
        self.from_16 = normalized_convolution(sixteenth, eighth, 1)
        self.mixed = ResidualBlock(eighth, _INNER[0])
        self.beside = convolution(eighth, eighth)
        self.pose = nn.Conv2d(eighth, POSE_CHANNELS, 1)
        self.detail = normalized_convolution(quarter, _BALL_WIDTH, 3, 2)
        self.context = normalized_convolution(eighth, _BALL_WIDTH, 1)
        self.near_ball = ResidualBlock(_BALL_WIDTH, _BALL_WIDTH // 2)
        self.ball = nn.Conv2d(_BALL_WIDTH, BALL_CHANNELS, 1)
        self._start_heads()

    def _start_heads(self) -> None:
        for head, logits in ((self.pose, slice(4, 4 + len(POSE_KINDS))), (self.ball, slice(0, 1))):
            nn.init.normal_(head.weight, std=0.01)
            assert head.bias is not None
            nn.init.zeros_(head.bias)
            with torch.no_grad():
                head.bias[logits] = _RARE_LOGIT
        with torch.no_grad():
            assert self.pose.bias is not None
            self.pose.bias[:4] = _USUAL_REACH

    def forward(self, pictures: Tensor) -> tuple[Tensor, Tensor]:
        """Return the pose branch and the ball branch."""
        quarter = self.stem(pictures)
        eighth = self.at_8(quarter)
        sixteenth = self.at_16(eighth)
        last = self.at_32(sixteenth)
        sixteenth = torch.relu(sixteenth + doubled(self.from_32(last)))
        eighth = self.mixed(torch.relu(eighth + doubled(self.from_16(sixteenth))))
        ball = torch.relu(self.detail(quarter) + self.context(eighth))
        return in_full_precision(self.pose, self.beside(eighth)), in_full_precision(self.ball, self.near_ball(ball))


def join_branches(pose: Tensor, ball: Tensor) -> Tensor:
    """Return both branches as one head, as `downfield.models.frame_detector.decode_head` reads it.

    A cell whose ball is likelier than any figure or hand describes the ball: box and last keypoint are the ball's.

    Args:
        pose: shape (n, `POSE_CHANNELS`, rows, columns).
        ball: shape (n, `BALL_CHANNELS`, rows, columns).

    Returns:
        Shape (n, `downfield.models.frame_detector.CHANNELS`, rows * columns).
    """
    sizes = (4, len(POSE_KINDS), 3 * KEYPOINTS, 2 * KEYPOINTS)
    box, classes, points, spreads = pose.flatten(2).split(sizes, dim=1)
    logit, place = ball.flatten(2).split((1, 2), dim=1)
    is_ball = (logit > classes.amax(dim=1, keepdim=True)).to(pose.dtype)
    ball_box = torch.cat([_HALF_BALL_CELLS - place, _HALF_BALL_CELLS + place], dim=1)
    box = box + is_ball * (ball_box - box)
    corners, helmet, visible = points.split((3 * KEYPOINTS - 3, 2, 1), dim=1)
    helmet = helmet + is_ball * (place - helmet)
    classes = torch.cat([classes[:, :2], logit, classes[:, 2:]], dim=1)
    return torch.cat([box, classes, corners, helmet, visible, spreads], dim=1)
