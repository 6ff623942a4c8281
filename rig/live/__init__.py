"""The live loop: capture, detect, track and judge, each in its own thread, with the observers beside it."""
