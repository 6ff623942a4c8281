"""What belongs to checking."""
