"""Commands that set up tables: `calibrate`, `certify` and `tables`."""
