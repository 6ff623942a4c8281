"""Plays as scripts, carried out on a world and recorded with their truth and the calls they should bring.

Open `script` for the steps of a play, `stage` for how they are carried out and `recording` for the result. Places are
in the play's own frame (`ground`); `history` answers where a base was when it was touched. Named plays are in
`plays.playbook`.
"""
