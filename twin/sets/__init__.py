"""Labeled data sets for training and evaluation."""
