"""What every command shares: output, progress, options, the end of a process."""
