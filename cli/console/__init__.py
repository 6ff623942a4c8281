"""What all commands share: options, output that survives a closed pipe, progress, and an end in order."""
