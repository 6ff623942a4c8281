"""Judges scenes and events under a rulebook: one entry, a game in play, a whole recording.

`rules_engine.py` judges one entry, `judged_game.py` a game with rulings and undos, `recording.py` a recording.
`calling.py` makes calls of findings; `legal.py` says what may be declared now, by trying it on the engine.
"""
