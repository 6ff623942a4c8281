"""Which precision a processor trains in."""

from __future__ import annotations

from typing import Final

import torch

BRIEF: Final = torch.backends.cpu.get_cpu_capability() not in {"DEFAULT", "AVX2"}
"""Whether to reckon in bfloat16: processors that don't know it take ten times as long."""
