"""Running a plan: exact numbers, noise drawn by OpenDP, and the answers that are published."""
