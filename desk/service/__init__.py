"""The desk's own web service: the tables at a glance, the event, and what the hall and the stream see of it."""
