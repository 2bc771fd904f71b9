"""Where a cloud is asked: what the user says of it, what the environment adds, and what of both may become part of an address.

Credentials are not part of this: they come from where the cloud's own tools keep them. An address comes from the settings alone, since
signed requests and tokens go there: the variables of the SDK for it are not read, which a dev container may set.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ullage.models.errors import NotSetUp

_PART = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_PROJECT = re.compile(r"[a-z0-9][a-z0-9.:_-]{0,98}")
"""The id of a project. Older projects have their organisation before a colon."""


@dataclass(frozen=True, slots=True)
class Clouds:
    """What the user says of the clouds in the settings; fields are empty where nothing is said."""

    bedrock_region: str = ""
    """A region of AWS, such as `us-east-1`."""
    bedrock_profile: str = ""
    """The name of a profile in the files of AWS."""
    bedrock_base_url: str = ""
    """An address in place of Amazon's own: an endpoint of a private network, or a gateway."""
    vertex_region: str = ""
    """A region of Google Cloud, such as `global` or `europe-west1`."""
    vertex_project: str = ""
    """The id of a Google Cloud project."""
    vertex_base_url: str = ""
    """An address in place of Google's own, with its version: `https://…/v1`."""


NOTHING_SAID = Clouds()
"""For where the settings say nothing, so that all of it comes from the environment."""


def aws_region(clouds: Clouds, environment: Mapping[str, str]) -> str:
    """The region of the settings, else of the environment; empty if neither has one. Raises `NotSetUp` for what is none."""
    said = clouds.bedrock_region.strip() or environment.get("AWS_REGION", "").strip() or environment.get("AWS_DEFAULT_REGION", "").strip()
    return checked_region(said) if said else ""


def checked_region(region: str) -> str:
    """The region of AWS, checked: it becomes part of an address, so it must be nothing else. Raises `NotSetUp`."""
    if not _PART.fullmatch(region):
        raise NotSetUp(
            f'{region[:60]!r} is no region of AWS. One looks like us-east-1. Enter it in the setting "Ullage › Bedrock: Region".'
        )
    return region


def google_region(clouds: Clouds, environment: Mapping[str, str]) -> str:
    """The region of the settings, else of the environment, else `global`. Raises `NotSetUp` for what is none."""
    region = clouds.vertex_region.strip() or environment.get("CLOUD_ML_REGION", "").strip() or "global"
    if not _PART.fullmatch(region):
        raise NotSetUp(
            f"{region[:60]!r} is no region of Google Cloud. One looks like global or europe-west1. "
            'Enter it in the setting "Ullage › Vertex: Region".'
        )
    return region


def google_project(clouds: Clouds, environment: Mapping[str, str]) -> str:
    """The project of the settings, else of the environment; empty if neither has one. Raises `NotSetUp` for what is none."""
    names = ("ANTHROPIC_VERTEX_PROJECT_ID", "GOOGLE_CLOUD_PROJECT")
    project = clouds.vertex_project.strip() or next((environment[name].strip() for name in names if environment.get(name, "").strip()), "")
    return checked_project(project) if project else ""


def checked_project(project: str) -> str:
    """The project's id, checked: it becomes part of a path. Raises `NotSetUp`."""
    if not _PROJECT.fullmatch(project):
        raise NotSetUp(
            f"{project[:100]!r} is no id of a Google Cloud project. One looks like my-project-123. "
            'Enter it in the setting "Ullage › Vertex: Project".'
        )
    return project


def google_address(region: str) -> str:
    """Google's own address for that region, with its version (the rule of the SDK's client)."""
    if region == "global":
        return "https://aiplatform.googleapis.com/v1"
    if region in ("us", "eu"):
        return f"https://aiplatform.{region}.rep.googleapis.com/v1"
    return f"https://{region}-aiplatform.googleapis.com/v1"
