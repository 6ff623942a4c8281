"""The printed field, the lens and the pose: pixels <-> millimetres on the board <-> yards, with error."""
