"""An assessment in words: the verdict, the sentences, the tables, the report, its JSON and its registry record."""
