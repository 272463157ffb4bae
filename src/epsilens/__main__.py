"""``python -m epsilens``: the command, where its own name is not on the path."""

from .cli.__main__ import main

if __name__ == "__main__":
    main()
