"""False records: the test for them, how large a one hides, and a detector."""
