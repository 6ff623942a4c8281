"""Pictures that an owner contributes for training: chosen at moments worth it, made anonymous, in one file."""
