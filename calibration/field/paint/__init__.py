"""Where the paint is to a fraction of a pixel: profiles across lines, ends of lines, with the error of each."""
