"""The report as one HTML page: its parts, a file each. `report_html.py` puts them together."""
