"""The planned release: its YAML, its queries, related people, and the answers it asks for."""

from ..errors import MissingExtra

try:
    import pydantic  # noqa: F401 - every part of a plan needs both: their absence is told once, here
    import yaml  # noqa: F401
except ImportError as error:  # pragma: no cover - exercised in an environment without the extra
    raise MissingExtra(error.name or "pydantic", extra="data", purpose="describing a release") from error
