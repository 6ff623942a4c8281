"""Renderers: from a snapshot and a camera to the ideal picture and the visible part of every base top.

Open `renderer` for the interface, `renderers` for the two by name: `compositor` (OpenCV alone, on the `board` with its
light) and `traced_renderer` (photoreal). Both have the same truth.
"""
