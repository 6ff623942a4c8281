"""Checks for `downfield verify`: a store against itself, its rigs' signatures, and a tournament's record."""
