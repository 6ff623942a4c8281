"""Commands that play: `run`, `demo`, `score`, `card` and `rules`."""
