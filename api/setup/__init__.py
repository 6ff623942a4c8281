"""What belongs to setup."""
