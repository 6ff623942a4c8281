"""Training samples that are path-traced as they are needed.

Open `stream` first: it makes `tables` with the windows to trace, traces them, and `development` makes of the light what
a webcam would.
"""
