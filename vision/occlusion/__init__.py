"""Hands and whatever else reaches in over the board."""
