"""Training the networks: data, losses, schedules, checkpoints. Needs the extra `train`; the rig never imports it."""
