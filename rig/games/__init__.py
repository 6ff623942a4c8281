"""What a rig keeps of its games: its store and its key, the seals of its recordings, bundles for others."""
