"""Formations, stoppages, numbers and clocks: checked and reported, clause by clause."""
