"""Pure functions from a pair of laws to what a person wants to know.

Every reading is a reading of the trade-off curve f(α); auxiliary knowledge enters only through the prior π,
as the odds c = (1−π)/π, and never changes f.
"""
