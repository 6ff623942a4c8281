"""The networks, their losses and checkpoints.

There is one detector (`yolo_detector`) and one refiner (`refiner.RefinerNetwork`), which `keep` trains, `export` writes
for the rig, and `own_table` teaches a table. `blocks` has shared layers.
"""
