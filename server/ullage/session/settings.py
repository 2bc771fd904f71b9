"""The user's settings, parsed once. `lsp/` reads them from the editor and says which ones it could not use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ullage.context.policy import USUAL_CAP

if TYPE_CHECKING:  # take long to import, and `initialize` is answered first
    from ullage.context.compaction.economy import Economy
    from ullage.models.clouds.places import Clouds
    from ullage.models.facts import ModelFacts
    from ullage.models.model import EffortChoice
    from ullage.store.team.address import TeamPlace
    from ullage.tools.rules.covering import AskFor
    from ullage.tools.sandbox.sandbox import SandboxWanted


OTHER_LOCATION = (
    'The setting "Ullage › Store: Location" has changed. This window goes on with the sessions where they were when it was opened. Restart '
    "the server, or reload the window, to use the other place. What is kept is not moved there"
)
"""What the user is told: sessions that are open are not taken away under their feet."""

OTHER_TEAM = (
    'The setting "Ullage › Store: Url" or "Ullage › Store: Workspace" has changed. Restart the server, or reload the window, to use what '
    "it says. Until then sessions are kept where they were"
)


@dataclass(frozen=True, slots=True)
class Settings:
    """All `ullage.*` settings that the server needs. Defaults are the product's."""

    model_name: str = "claude-opus-5-5"
    """`ullage.model.name`."""
    effort: EffortChoice = "default"
    """`ullage.model.effort`: what new sessions ask for where the model takes it; `default` leaves it to the model."""
    base_url: str = ""
    """`ullage.model.baseUrl`: a server that speaks the provider's API; empty means the provider's own."""
    provider: Literal["auto", "anthropic", "openai", "bedrock", "vertex", "editor", "practice"] = "auto"
    """`ullage.model.provider`: auto takes Anthropic where a key or a base URL is there, else practice; `openai` is Chat
    Completions; `bedrock` and `vertex` are Claude in a cloud, `editor` the language models of the editor."""
    facts: Mapping[str, ModelFacts] = field(default_factory=dict[str, "ModelFacts"])
    """`ullage.model.facts`: by the model's name, what the user says of it."""
    bedrock_region: str = ""
    """`ullage.bedrock.region`; empty: the environment's, or that of the profile."""
    bedrock_profile: str = ""
    """`ullage.bedrock.profile`: whose credentials of AWS; empty: what AWS's own tools would take."""
    bedrock_base_url: str = ""
    """`ullage.bedrock.baseUrl`: in place of Amazon's address of the region."""
    vertex_region: str = ""
    """`ullage.vertex.region`; empty: the environment's, or `global`."""
    vertex_project: str = ""
    """`ullage.vertex.project`; empty: the environment's, or that of the credentials."""
    vertex_base_url: str = ""
    """`ullage.vertex.baseUrl`: in place of Google's address of the region, with its version."""
    auto_compact: bool = True
    """`ullage.compaction.auto`: whether a compaction is made by itself at the threshold."""
    threshold_cap: int = USUAL_CAP
    """`ullage.compaction.cap` (tokens): the user's own limit of the threshold, in place of the policy's, where that has one."""
    policy_name: str = "ullage"
    """`ullage.compaction.policy`: the name of the policy in force."""
    economy: Economy = "fullest"
    """`ullage.compaction.economy`: how much is done to save by compacting before the threshold."""
    summary_engine: Literal["model", "digest"] = "model"
    """`ullage.compaction.summary`: who writes summaries; `digest` never calls a model."""
    bash_timeout: float = 120.0
    """`ullage.bash.timeout` (seconds): after this time a command is ended that names no time of its own."""
    bash_sandbox: SandboxWanted = "auto"
    """`ullage.bash.sandbox`: whether commands run in a sandbox. `auto`: where one works; `required`: no command runs without; `off`:
    none."""
    ask_for: AskFor = "notHarmless"
    """`ullage.permissions.ask`: what is asked about that no rule allows."""
    hooks: bool = True
    """`ullage.hooks.enabled`: whether hooks run that the user allowed."""
    home_files: bool = True
    """`ullage.instructions.home`: whether rules, skills, commands and hooks in the user's home folder count."""
    store_location: str = ""
    """`ullage.store.location`: the folder that holds what is kept of all workspaces; empty means the system's own. Read at the start."""
    store_url: str = field(default="", repr=False)
    """`ullage.store.url`: the address of a team's PostgreSQL; empty means `ULLAGE_STORE`, or none. Read at the start."""
    store_workspace: str = ""
    """`ullage.store.workspace`: what the workspace is called in a team's store; empty means `ULLAGE_STORE_WORKSPACE`, or its path."""
    versions_limit: int = 1_024
    """`ullage.store.versionsLimit` (megabytes): what copies of files may take, by which the agent's changes are taken back."""
    agents_at_once: int = 4
    """`ullage.agents.atOnce`: sub-agents of one session that work side by side; the others wait."""
    agents_per_turn: int = 20
    """`ullage.agents.perTurn`: how many sub-agents one turn can start."""
    agents_max_cost: float = 5.0
    """`ullage.agents.maxCost`: dollars that the sub-agents of one turn may cost together."""
    agents_max_tokens: int = 2_000_000
    """`ullage.agents.maxTokens`: tokens of one sub-agent that are sent anew or written; what the prompt cache has does not count."""
    mcp_servers: Mapping[str, object] = field(default_factory=dict[str, object])
    """`ullage.mcp.servers`: MCP servers by name, as the user configured them; checked where they are used (`mcp_servers/configured.py`)."""
    mcp_in_full: float = 0
    """`ullage.mcp.toolsInFull`: percent of the model's window up to which tools of MCP servers stand before the messages in full."""
    endpoint_fault: str = ""
    """What is wrong with a setting that says where the model is asked, and what to do, in words for the user. No model is asked then: the
    default may be another endpoint than the one that they meant. Empty if all is well."""
    trusted: bool = True
    """Whether the user trusts the workspace; without trust no tool writes or runs anything."""
    shows_questions: bool = True
    """Whether the front end shows the agent's questions; without that the agent asks in words."""

    @property
    def versions_bytes(self) -> int:
        """What copies of files may take (`versions_limit`), in bytes."""
        return self.versions_limit << 20

    @property
    def clouds(self) -> Clouds:
        """What the settings say of the clouds."""
        from ullage.models.clouds.places import Clouds

        return Clouds(
            bedrock_region=self.bedrock_region,
            bedrock_profile=self.bedrock_profile,
            bedrock_base_url=self.bedrock_base_url,
            vertex_region=self.vertex_region,
            vertex_project=self.vertex_project,
            vertex_base_url=self.vertex_base_url,
        )

    @property
    def team_place(self) -> TeamPlace:
        """What the settings say of the team's store."""
        from ullage.store.team.address import TeamPlace

        return TeamPlace(self.store_url, self.store_workspace)

    @property
    def endpoint(self) -> tuple[str, str, str, str, Mapping[str, ModelFacts], Clouds]:
        """What says where the model is asked, which one, and what the user says of it. If it changes, models are made anew."""
        return self.model_name, self.base_url, self.provider, self.endpoint_fault, self.facts, self.clouds
