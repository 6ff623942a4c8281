"""Commands that track and judge recordings."""
