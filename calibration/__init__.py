"""The printed field, the lens and the pose: pixels to millimeters on the board to field yards, with the error of each.

A picture of a board and what is known of its print and lens enter; a `Calibration` leaves: a camera (`camera`), the
field, and how well both are known. Open `calibration` first (the result, and its methods), then `field.solver`
(how the print is found in a picture) and `camera_fit` (the least-squares fit with priors and robust errors).

    lens      what lenses are like before a picture is seen, and how one is measured
    field     from a picture to readings of the print: lines, marks, exact paint, the choice among them
    online    the camera while a game runs: shake, drift, and calibrating again
"""
