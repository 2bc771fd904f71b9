"""The sisters of the fake for Claude in clouds: Amazon Bedrock and Google Vertex AI."""

from __future__ import annotations

from tests.fake_api.clouds.bedrock import FakeBedrock
from tests.fake_api.clouds.vertex import FakeVertex

__all__ = ["FakeBedrock", "FakeVertex"]
