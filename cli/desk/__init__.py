"""Commands of the director's desk, its broker and its archive."""
