"""Rules that measure, shared by the rulebooks: each looks at the facts of a frame and returns findings.

`tackles` and `square_tackles` judge contacts, the second also by the angle and the overlap of the faces that meet;
`lines` crossings of lines, `ball` catches and loose balls, `passer` the passer, `facing` who faces whom, and
`interference` pass interference.
"""
