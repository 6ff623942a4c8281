"""The ball refiner (close look): a small network that finds the ball in a patch, in an arm or on the board.

Its patches are like the figure refiner's (`models.patches`), only closer: around each figure, turned as it stands, and
around each candidate of the ball detector.

Output, shape (n, 256): logits of the ball's middle being seen in each of 16 x 16 cells of the patch, row by row,
against 0 for nowhere.
"""

from __future__ import annotations

from torch import Tensor, nn

from downfield.training.layers import Residual, convolve

_WIDTHS = (24, 48, 96)  # at a half, a quarter and an eighth of the patch's size
_EYES = 32


class CloseLook(nn.Module):
    """The network. Input is red, green, blue in 0..1, shape (n, 3, 64, 64)."""

    def __init__(self) -> None:
        super().__init__()
        low, middle, high = _WIDTHS
        self.sharp = nn.Sequential(convolve(3, low, 2), Residual(low))
        self.coarse = nn.Sequential(convolve(low, middle, 2), Residual(middle), Residual(middle))
        self.fine = nn.Sequential(convolve(middle, high, 2), Residual(high), Residual(high))
        self.close = nn.Conv2d(low, _EYES, 3, 2, padding=1)
        self.near = nn.Conv2d(middle, _EYES, 3, padding=1)
        self.around = nn.Conv2d(high, _EYES, 1)
        self.heat = nn.Sequential(nn.ReLU(), Residual(_EYES), Residual(_EYES), nn.Conv2d(_EYES, 1, 1))

    def forward(self, patches: Tensor) -> Tensor:
        """Return the logits of the ball's place in each patch."""
        sharp = self.sharp(patches)
        coarse = self.coarse(sharp)
        around = nn.functional.interpolate(self.around(self.fine(coarse)), scale_factor=2.0)
        heat: Tensor = self.heat(self.close(sharp) + self.near(coarse) + around)
        return heat.flatten(1)
