"""A plan on a real table: who could learn what, how accurate the answers are, and the verdict."""
