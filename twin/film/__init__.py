"""Filming: what a real camera makes of ideal pictures over time, and clips with their truth.

`film` exposes snapshots one by one, with the faults of `sensor_effects`, and writes a recording's clip with its truth
files; `live` is a play as a frame source of the rig.
"""
