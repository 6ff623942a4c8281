"""The tracer's arithmetic: small functions that numba compiles for the processor and for CUDA alike.

Nothing here allocates, all arithmetic is float32. Lengths are millimeters in the board frame. Light is linear: a white
level surface at the board's middle sends about 1. `layout` names the columns of all arrays, `target` what is compiled
for; `pixels` is what `tracer` launches.
"""
