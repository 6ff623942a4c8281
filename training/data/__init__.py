"""Pictures to train on, with their labels.

Open `objects` first (what a picture shows), then `labeled_frames` (data sets on disk). `variation` draws balls and
shadows and changes light; `places` chooses where crops and patches are cut; `crops`, `patches` and `ball_pictures` cut
them for the bundled network's parts, `set_samples` for the timed runs, whose batches `samples` defines. `patch_files`
keeps patches on disk; `real_tables` labels recordings and contributions.
"""
