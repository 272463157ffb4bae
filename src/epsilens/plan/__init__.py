"""The planned release: its YAML, its queries, related people, and the answers it asks for."""
