"""Reading a card game's strip from pictures: calibration by its print, slide, ball and dials, with confidence."""
