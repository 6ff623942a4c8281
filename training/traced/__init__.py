"""What path-traced training samples are made of.

Open `tables` first: it makes tables with the windows to trace; `development` makes of the light what a webcam would.
"""
