"""Formations, stoppages, numbers and clocks: checked and reported, clause by clause.

A `Check` (check.py) compares what a scene or a stoppage shows with one clause and says kept, broken, too close or
unknown, with its margin. `RulebookChecks` (rulebook_checks.py) runs those of one rulebook at the snap, at a restart and
after a kick, and makes findings of what is broken. They change nothing in the game: no rulebook gives them a penalty.
"""
