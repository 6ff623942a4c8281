"""The printed field: its model and what it can be, presets, files that describe it, painted lines."""
