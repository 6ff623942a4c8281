"""Renderers: from a snapshot and a camera to the ideal picture and the visible part of every base top.

Open `renderer` for the interface, `renderers` for the three by name: `compositor` (OpenCV alone), `mujoco_renderer`
(OpenGL) and `traced_renderer` (photoreal). They share the `board` with its light; all have the same truth.
"""
