"""The service: the record of a game, its live feed, the operator's panel and the overlays."""
