"""Games that are kept: read back, ruled on, judged under other rules, and saved as files; open `games`."""
