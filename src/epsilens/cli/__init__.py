"""The commands, a room for each kind of question; :mod:`epsilens.cli.app` lists them."""
