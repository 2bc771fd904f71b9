"""The report: as text on one screen, as tables, as JSON, and as an HTML page."""
