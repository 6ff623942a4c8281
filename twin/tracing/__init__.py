"""A path tracer of tables: photoreal pictures on the processor or a GPU, from one source."""
