"""What differs between operating systems: which one this is, file locks, priorities, folders. Nothing else asks."""
