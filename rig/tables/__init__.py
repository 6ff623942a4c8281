"""The tables that were set up, how one is opened, and how it is calibrated."""
