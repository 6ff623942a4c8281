"""The rulebooks: their parameters, clauses and what only each of them has."""
