"""A league's archive: bundles and recordings in a folder or an object store, found, judged and tracked again on Ray."""
