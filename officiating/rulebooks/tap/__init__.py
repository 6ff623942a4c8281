"""TAP: Tudor Advanced Play."""
