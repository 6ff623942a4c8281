"""The networks, their losses and checkpoints.

The bundled network has a figure detector (`yolo_detector`), two figure refiners (`refiner`: first `FigureRefiner`,
second `RefinerNetwork`), a hand detector (`detector`), and a detector and a refiner of the ball (`ball`). A pair is
`DetectorNetwork` and `RefinerNetwork` alone. Open `refiner` first; `blocks` has the layers that all share.
"""
