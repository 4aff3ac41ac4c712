"""What all rooms of sim use: files, words, pictures' frames, external tools."""
