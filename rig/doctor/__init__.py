"""`downfield doctor`: what is wrong with a rig, and what mends it."""
