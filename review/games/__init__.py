"""What belongs to games."""
