"""The tracer's arithmetic: small functions that numba compiles for the processor and for CUDA alike.

Nothing here allocates, all arithmetic is float32. Lengths are millimeters in the board frame. Light is linear: a white
level surface at the board's middle sends about 1. `layout` names the columns of all arrays, `target` what is compiled
for; `pixels` is what `tracer` launches.

numba keeps compiled kernels in `__pycache__` here and compiles one anew when its own file has changed, not when a file
that it calls has: after a change, delete that folder.
"""
