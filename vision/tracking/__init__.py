"""Tracking of every figure of the roster: assignment, motion, heading, posture, teams.

Open `tracker` first. `front` says which end of a base is the front and how sure that is, `kalman` how figures move,
`assignment` which detection is which figure, `identification` and `teams` who is who. `matching` says who is in doubt,
lost and found again, `recovery` what to do when all are lost.
"""
