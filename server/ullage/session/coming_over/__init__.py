"""Going on here with sessions that other programs began: found on this machine, looked at, and made sessions of one's own."""
