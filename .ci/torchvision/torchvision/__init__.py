"""As much of torchvision as ultralytics needs for training: see this package's pyproject.toml."""

from torchvision import ops

__all__ = ["ops"]
__version__ = "0.28.0"
