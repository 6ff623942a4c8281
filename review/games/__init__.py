"""Games and plays of the store as lists and tables."""
