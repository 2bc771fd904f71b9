"""The report as one HTML page. `page.py` puts its parts together."""
