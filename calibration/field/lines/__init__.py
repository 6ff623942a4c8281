"""Lines of a picture: chains of edge points, pencils through a vanishing point, and which printed line each one is."""
