"""What belongs to context."""
