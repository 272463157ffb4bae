"""From the world to an experiment: mechanisms, what the adversary knows, the attacks of the papers."""
