"""The live feed: the hub, event streams, the relay process, and the latest camera picture."""
