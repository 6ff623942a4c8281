"""Lennie Gunderson's Solitaire EFL."""
