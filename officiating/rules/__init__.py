"""Rules that measure, shared by the rulebooks: each looks at the facts of a frame and returns findings.

`tackles` and `square_tackles` judge contacts: to the first any touch is a tackle, the second also asks for the angle
and the overlap of the faces that meet. `lines` judges crossings of lines and says where a play is spotted, `ball`
catches and loose balls, `passer` the passer, `facing` who faces whom, and `interference` pass interference. Their
numbers, such as the least overlap, stand in `params.toml`.
"""
