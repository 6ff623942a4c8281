"""What one frame shows of a figure: place, heading and size of its base with their errors, and signs of a fall."""
