"""The recording: the camera's own packets in files of a minute, with an exact index, whatever happens."""
