"""The page: ``epsilens serve``. Views and a JSON API over the same functions as the command line.

Nothing here computes: handlers turn a URL into arguments, call the library and its reports, and put the result into a
template. FastAPI and its friends are an extra, so :mod:`epsilens.web.app` is imported late, by the command that needs
it.
"""
