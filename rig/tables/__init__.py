"""Table profiles: calibrated tables that are kept, and found again by their camera and print."""
