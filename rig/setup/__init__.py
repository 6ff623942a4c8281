"""Setting up a table on a page: is the camera aimed, where is the field, which reading is right, save."""
