"""The game as it stands, what a frame shows of it, and the interfaces by which rules read both.

`game_state.py` and `play_state.py` are records that only handlers and consequences replace; `facts.py` measures a frame
once for all rules; `interfaces.py` has `Rule`, `RuleContext`, `Outcome` and `RuleSystem`.
"""
