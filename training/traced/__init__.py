"""Endless training samples that are path-traced as they are needed.

Open `stream` first: worker processes make `tables` with the windows to trace, the device traces them, and `development`
makes of the light what a webcam would.
"""
