"""Instant replays: which call is shown, how its film is cut, drawn on and encoded, and highlights; open `director`."""
