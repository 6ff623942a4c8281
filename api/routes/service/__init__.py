"""The service itself: pages, pairing, health."""
