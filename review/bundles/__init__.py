"""What belongs to bundles."""
