"""What a table is: whose rows, what each column holds, what an attacker may know of a person."""
