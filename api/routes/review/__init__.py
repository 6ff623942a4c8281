"""What belongs to review."""
