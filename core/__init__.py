"""What every other folder uses: errors, records, the field model, footprints and gaps, scenes, detections."""
