"""The commands, one module each; :mod:`epsilens.cli.app` lists them."""
