"""What a file of ours may do in a browser: show itself, and nothing else.

A report holds words that came from a table. They are escaped; should one slip through all the same, the browser runs
no script, fetches nothing and sends nothing.
"""

from __future__ import annotations

POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; font-src data:; img-src data:; base-uri 'none'; form-action 'none'"
)


def meta() -> str:
    """The policy as an element for the head of a page."""
    return f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
