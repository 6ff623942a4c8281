"""Accuracy on labeled pictures, and what is set by it in a network's card. Test pictures are only measured.

Open `scoring` first (one picture), then `measures` (a set). `tuning` sets thresholds, `weights` fits how much each of
several detectors and refiners counts, `calibration` how sure the network says it is.
"""
