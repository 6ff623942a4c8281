"""Measure base outlines on the edges of the picture."""
