"""Frames to scenes: footprints, contacts, falls, the ball, hands, board power."""
