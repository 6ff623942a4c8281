"""Replays: which play is shown, how its film is cut, drawn on and encoded, and highlights of a game."""
