"""The digital twin of a table: physics and rendered video with exact truth, for training, tests and the demo."""
