"""Replays of a call as television shows them, and the highlights of a game."""
