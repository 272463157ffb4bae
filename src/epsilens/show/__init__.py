"""Showing an experiment to people: a sentence, a picture, a table, a curve, and how it was computed."""
