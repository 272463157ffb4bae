"""What an adversary knows beforehand: beliefs, chains, composite questions."""
