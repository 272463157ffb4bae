"""The commands, one module each; :mod:`epsilens.cli` lists them."""
