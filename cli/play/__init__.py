"""Commands that play a game or tell of its rules."""
