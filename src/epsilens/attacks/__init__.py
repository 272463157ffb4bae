"""Other questions an attacker asks: who of n, with a wrong belief, at observed rates."""
