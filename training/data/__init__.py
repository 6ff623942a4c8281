"""Pictures to train on, with their labels.

Open `objects` first (what a picture shows), then `labeled_frames` (data sets on disk). `variation` draws balls and
shadows and changes light; `places` chooses where patches are cut; `patches` cuts them, and crops, and `set_samples`
makes batches of them, which `samples` defines and `sample_files` keeps on disk; `real_tables` labels recordings and
contributions.
"""
