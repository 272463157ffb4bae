"""Pairs of laws with closed forms: normal and Laplace noise, shifted, stretched, summed."""
