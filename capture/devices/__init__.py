"""Cameras plugged into this computer: found, opened and held at their exposure, focus and white balance."""
