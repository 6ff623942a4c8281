"""The rulebooks: their parameters, their clauses, and the code specific to each."""
