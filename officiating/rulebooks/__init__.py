"""Rulebooks: what one is (`rulebook.py`), how installed ones are found (`installed.py`), and the bundled ones.

A package of each holds its `system.py`, which lists rules, handlers, consequences and parameters, and its
`clauses.toml`. The packages do not import each other.
"""
