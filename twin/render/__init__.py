"""Pictures of a look: three renderers with one truth."""
