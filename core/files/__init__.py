"""Reading and writing files: JSON Lines, CSV, input files, private files, tracks."""
