"""Scenes and declarations to facts, calls and the state of the game, under a rulebook.

What enters: scenes, many a second, each with the figures, contacts and board power that a camera saw; events, which are
declarations, rulings and undos of people; and one rulebook. What leaves: calls, each with its margin, its error and the
clauses that decided it, and the state of the game after every entry. Pure: no picture, no clock, no file but its own,
and the same input gives the same calls.

Open `engine/rules_engine.py` first: `RulesEngine.step` is all of it in one function. Then one rule, such as
`rules/tackles.py`, and the rulebook that lists it, `rulebooks/tap/system.py`. The rules' numbers stand in
`rules/params.toml`, with their reasons. `engine/judged_game.py` is a game in
play, `engine/recording.py` a recording judged as a whole, `scenes.py` makes cases by hand.

Each part imports only from those above it:

    the room's own modules   the words: belief, conditions, calls, clauses, declarations, events, params, sides
    state/                   the game and the play as they stand, the facts of a frame, the interfaces of rules
    rules/                   rules that measure: tackles, lines, facing, the ball, the passer
    checks/                  formations, stoppages, numbers and clocks: reported clause by clause
    consequences/            what a call or a declaration does to the game in every rulebook
    rulebooks/               a rulebook and a league's file; how installed ones are found; a package of each bundled one
    engine/                  judges entry by entry: findings to calls, rulings, what may be declared, whole recordings

A rulebook is found, not named: see `rulebooks/installed.py` and docs/extend.md.
"""
