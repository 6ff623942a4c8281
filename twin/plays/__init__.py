"""Named plays of the digital twin, whose correct calls are known, and random ones."""
