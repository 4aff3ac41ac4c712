"""Shared helpers of sim: files, text, picture frames, options, external tools."""
