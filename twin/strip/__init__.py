"""The twin of a playing strip with its slide and dials: pictures with exact truth."""
