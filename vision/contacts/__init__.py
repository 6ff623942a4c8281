"""Gaps between bases, and the contacts inferred from them with their start times."""
