"""Hands and other objects that reach in over the board."""
