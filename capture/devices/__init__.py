"""Cameras of this computer: how they are found, what is asked of them, and how their controls are held."""
