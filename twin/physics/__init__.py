"""The table in motion, and the exact truth of it."""
