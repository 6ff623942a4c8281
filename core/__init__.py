"""The words everything speaks: errors, records, the field model, footprints and gaps, scenes, detections."""
