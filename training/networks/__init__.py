"""The networks, their losses and checkpoints.

There is one detector (`yolo_detector`) and one refiner (`refiner.RefinerNetwork`). The bundled network has parts of
earlier kinds besides; of these `refiner.FigureRefiner` still learns tables of one's own. `blocks` has shared layers.
"""
