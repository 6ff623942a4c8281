"""The two networks, a detector over whole frames and a refiner over patches: definitions, losses, checkpoints."""
