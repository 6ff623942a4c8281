"""Accuracy on labeled pictures, and what is set by it in a network's card. Test pictures are only measured.

Open `scoring` first (one picture), then `measures` (a set). `tuning` sets thresholds and stated certainty.
"""
