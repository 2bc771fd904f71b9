"""The one error of the fake's rules."""

from __future__ import annotations


class Refused(Exception):
    """The request is answered with an error instead of a reply.

    `status` is the HTTP status, `error_type` the API's `error.type`, `message` its `error.message`, `error_code` its
    `error.details.error_code`, which few errors have.
    """

    def __init__(self, status: int, error_type: str, message: str, error_code: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.error_type = error_type
        self.message = message
        self.error_code = error_code


def invalid(message: str, error_code: str | None = None) -> Refused:
    """A 400 `invalid_request_error`."""
    return Refused(400, "invalid_request_error", message, error_code)
