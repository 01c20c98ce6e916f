"""A release is read and asked: all of it is post-processing, which costs nothing."""
