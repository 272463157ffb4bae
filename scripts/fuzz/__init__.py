"""Everything people may pass in, tried at random: ``make fuzz``, ``make fuzz MINUTES=5``."""
