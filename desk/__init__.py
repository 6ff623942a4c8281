"""Many tables: the events that are played over them, and the director's desk."""
