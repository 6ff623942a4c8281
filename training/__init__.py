"""Training of the networks: data, losses, schedules, export, learning one's own table. Needs the extra `train`."""
