"""Film a table: what the camera does to ideal pictures over time, and the clip file."""
