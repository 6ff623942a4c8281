"""A path tracer of tables: photoreal pictures on the processor or a GPU, from one source.

`scene` turns a table at one instant into arrays; `tracer` traces pictures, or parts of them, and asks which figure a
pixel shows. The arithmetic is in `tracing.kernels`.
"""
