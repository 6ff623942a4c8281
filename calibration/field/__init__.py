"""Find the printed field in a picture, match it to a field model, and solve for the camera."""
