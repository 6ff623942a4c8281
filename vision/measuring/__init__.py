"""What one frame shows of a figure, with errors: a base's place, heading and size (`measurement`), a fall (`falls`)."""
