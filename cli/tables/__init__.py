"""Commands that set up, calibrate and check a table."""
