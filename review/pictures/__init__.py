"""What belongs to pictures."""
