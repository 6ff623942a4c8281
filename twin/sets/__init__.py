"""Labeled data sets for training and evaluation, resumable and independent of the number of workers.

Open `dataset`. `table_frames` makes the pictures of one table: arranged without physics (`arrange`) or out of a play,
drawn, filmed, and labeled (`labels`); `sample` is one picture's record and its lines for YOLO-pose.
"""
