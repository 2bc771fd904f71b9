"""The policies that come with Ullage, by name, in the order in which they are listed."""

from __future__ import annotations

from collections.abc import Mapping

from ullage.context.policies.lossless import LOSSLESS
from ullage.context.policies.none import NONE
from ullage.context.policies.ullage import ULLAGE
from ullage.context.policy import Policy

BUILT_IN: Mapping[str, Policy] = {policy.name: policy for policy in (ULLAGE, LOSSLESS, NONE)}
