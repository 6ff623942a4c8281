"""Instant replay: which call is replayed, when, and what the overlay is told of it."""
