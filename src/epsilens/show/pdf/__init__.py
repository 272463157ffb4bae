"""PDF files, written here: pages of lines and words, with the fonts they need inside."""
