"""What exists, declared once and free of numpy: parameters, mechanisms, claims, readings."""
