"""The printed field: its model, limits, presets and painted lines."""
