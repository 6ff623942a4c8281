"""The web service of a rig in its own thread, its keys and its certificate, and the review without a camera."""
