"""Reads the result windows of play cards from a photo."""
