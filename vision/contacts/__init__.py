"""Measure gaps between bases and decide which contacts are real, and since when."""
