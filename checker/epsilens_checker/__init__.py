"""Checks a claimed bracket on a reading of a differentially private release, in ball arithmetic.

The theorem and the lemmas, numbered as the comments cite them, are in ``docs/proofs/checker.md``.
"""
