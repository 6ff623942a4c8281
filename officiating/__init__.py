"""Scenes and declarations to facts, calls and the state of the game, under a rulebook. Pure: no vision, no I/O."""
