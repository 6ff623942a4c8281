"""What endpoints use: `context`, one typed object, and `access_control`, who sent a request and whether they may."""
