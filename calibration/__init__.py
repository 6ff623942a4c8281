"""The printed field, the lens and the pose: pixels <-> millimeters on the board <-> yards, with error."""
