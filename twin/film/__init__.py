"""What a camera makes of a table over time, and the clip it leaves."""
