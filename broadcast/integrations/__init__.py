"""What leaves the rig for other programs: OBS, webhooks, files for mixers, captions. None of it can hold up a game."""
