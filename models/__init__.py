"""The network: what it sees in a frame, and the lean runtime that runs it."""
