"""The rules a request must obey, one concern a file; `tests.fake_api.validation` applies them in order."""
