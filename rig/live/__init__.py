"""The live loop: frames through vision into a game, what observes them on the way, and the rig's health."""
