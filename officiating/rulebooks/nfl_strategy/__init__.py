"""NFL Strategy: plays off cards and dice."""
