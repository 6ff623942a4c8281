"""Rulebooks: what one is (`rulebook.py`), how installed ones are found (`installed.py`), and the bundled ones.

A package of each holds its `system.py`, which lists rules, handlers and consequences, its `clauses.toml` and its
`params.toml`; parameters of all of them are in the `params.toml` here. The packages do not import each other.
"""
