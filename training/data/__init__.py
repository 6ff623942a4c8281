"""Pictures to train on, with their labels.

Open `objects` first (what a picture shows), then `labeled_frames` (data sets on disk). `places` chooses where patches
are cut; `set_samples` cuts them, and crops, into samples, which `samples` defines and varies and `sample_files` keeps
on disk; `real_tables` labels recordings and contributions.
"""
