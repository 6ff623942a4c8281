"""NFL Strategy: plays from cards and dice."""
