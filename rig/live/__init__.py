"""The live loop: frames through vision into a game, what observes them on the way, and the rig's health.

Open `loop` first; `connections` is what passes between its threads, `vision_stages` and `strip_game` what a frame goes
through. `annotated_picture` and `camera_watch` observe it, and `rig_health` reports how it goes.
"""
