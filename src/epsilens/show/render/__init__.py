"""Any document as text, Markdown, terminal output, a page or a notebook fragment."""
