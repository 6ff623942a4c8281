"""Contributions: frames of one's own table for training, in a file that their owner may send."""
