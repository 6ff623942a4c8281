"""The live feed: event streams, how many may be open, and the process that takes them over when there are many."""
