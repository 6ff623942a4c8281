"""The Lion's Den rules."""
