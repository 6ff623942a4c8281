"""Marks between the lines that tell yard, side and scale: hash marks, numbers, and whether a picture is mirrored."""
