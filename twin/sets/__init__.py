"""Labelled data sets for training and evaluation."""
