"""The systems there are: the code behind each base rulebook."""

from __future__ import annotations

from typing import Final

from downfield.officiating.engine.interfaces import RuleSystem
from downfield.officiating.rulebooks.efl.system import EFL
from downfield.officiating.rulebooks.lions_den.system import LIONS_DEN
from downfield.officiating.rulebooks.nfl_strategy.system import NFL_STRATEGY
from downfield.officiating.rulebooks.tap.system import TAP

SYSTEMS: Final[dict[str, RuleSystem]] = {system.name: system for system in (TAP, EFL, LIONS_DEN, NFL_STRATEGY)}
