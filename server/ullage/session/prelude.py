"""What stands before the messages: the system prompt, the rules and skills of the workspace, the tools.

`PreludeInUse` logs another prelude when tools or rules have changed. What files of a project say: `instructions/`.
"""

from __future__ import annotations

import logging
import platform
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files as package_files

from ullage.context.blocks import SystemPart
from ullage.context.counting.tokens import Calibration
from ullage.context.entries import Prelude
from ullage.session.conversation import Conversation
from ullage.session.instructions.agent_files import agents_for_the_model
from ullage.session.instructions.in_force import rules_from_the_start
from ullage.session.instructions.prompt_files import lent_for, skills_for_the_agent, skills_in_force
from ullage.session.servers_told import ServersTold
from ullage.store.errors import StoreFailed
from ullage.tools.registry import OF_SERVERS
from ullage.tools.rules.reading import ReadRulesNow, none_refused
from ullage.tools.task import TASK
from ullage.tools.tool import Tool
from ullage.workspace.folders import Folders


def make_prelude(
    folders: Folders,
    tools: Mapping[str, Tool],
    read_rules: ReadRulesNow | None = None,
    told: str = "",
    of_servers: Sequence[SystemPart] = (),
) -> Prelude:
    """The prelude as it would be now. Nothing in it changes by itself (no date, no open files): it is the cache's root.

    `told`: what a sub-agent is told in place of the usual instructions.
    """
    instructions = told or package_files("ullage.session").joinpath("system_prompt.md").read_text("utf-8").strip()
    where = ", ".join(root.as_posix() for root in folders.roots) or "none is open"
    environment = f"Workspace folders: {where}\nSystem: {platform.system()}"
    parts = [SystemPart("system", f"{instructions}\n\n{environment}")]
    may_not_be_read = (read_rules or none_refused(folders))()
    skills = skills_in_force(folders, may_not_be_read)
    folders.lent = () if folders.home is None else lent_for(skills, folders.home.path)  # what the agent is told of it may read
    of_the_project = [*rules_from_the_start(folders, may_not_be_read), ("skills", skills_for_the_agent(skills))]
    if TASK in tools:
        of_the_project.append(("agents", agents_for_the_model(folders, may_not_be_read)))
    parts += [SystemPart("rules", text, name) for name, text in of_the_project if text]
    parts += of_servers
    return Prelude(tuple(parts), tuple(tool.spec for tool in tools.values()))


def explore_prompt() -> str:
    """What the sub-agent `explore`, which every workspace has, is told."""
    return package_files("ullage.session").joinpath("explore_prompt.md").read_text("utf-8").strip()


logger = logging.getLogger(__name__)


class PreludeInUse:
    """Keeps `tools`, which others look into, and the prelude in the log to what `make_tools` and the rules files give."""

    def __init__(
        self,
        conversation: Conversation,
        folders: Folders,
        tools: dict[str, Tool],
        make_tools: Callable[[], Mapping[str, Tool]],
        read_rules: ReadRulesNow,
        servers: ServersTold,
        told: str = "",
    ) -> None:
        self._told = told
        self._conversation = conversation
        self._folders = folders
        self._tools = tools
        self._make_tools = make_tools
        self._read_rules = read_rules
        self._servers = servers

    def use(self) -> None:
        """Logs the prelude if it is new or has changed."""
        now = self._changed()
        if now is not None:
            self._conversation.append(now)

    async def use_as_foreseen(self, calibration: Calibration) -> None:
        """Logs the prelude if it is new or has changed. Where all of a long conversation is folded and counted anew for that, other work is
        not held up."""
        await self._servers.ready()
        now = self._changed()
        if now is not None:
            await self._conversation.foresee(now, calibration)
            self.use()  # settings may have changed meanwhile

    def _changed(self) -> Prelude | None:
        """The prelude as it is now; None if the log has it already. In the middle of an epoch the rules stay as they were: changing them
        would cost the cache and all thinking."""
        before = self._conversation.projection.prelude
        begun = bool(self._conversation.projection.messages)
        now = self._now(with_servers=self._knows_servers(before) if begun else self._servers.wanted)
        changed = before is None or before.tools != now.tools or before.system[:1] != now.system[:1] or (not begun and before != now)
        return now if changed else None

    def _now(self, *, with_servers: bool) -> Prelude:
        tools = self._tools if with_servers else {name: tool for name, tool in self._tools.items() if name not in OF_SERVERS}
        has_servers = with_servers and tools.keys() >= OF_SERVERS  # a sub-agent has none
        return make_prelude(self._folders, tools, self._read_rules, self._told, self._servers.parts() if has_servers else ())

    @staticmethod
    def _knows_servers(before: Prelude | None) -> bool:
        """Whether the tools of MCP servers are in that prelude: in the middle of an epoch they stay as they were, whatever is
        configured."""
        return before is not None and any(tool.name in OF_SERVERS for tool in before.tools)

    def settings_changed(self) -> None:
        """Makes the tools anew by the settings as they are now; those that are gone cannot be called. The model is told with the next turn:
        until then what it was told stays in the prefix."""
        self._take_over(self._make_tools())

    def renew_tools(self) -> None:
        """Makes the tools anew and logs them, when another policy is in force: some policies come with tools of their own."""
        self._take_over(self._make_tools())
        if self._conversation.projection.prelude is not None:
            self.use()

    def _take_over(self, tools: Mapping[str, Tool]) -> None:
        gone = self._tools.keys() - tools.keys()
        self._tools.update(tools)
        for name in gone:
            del self._tools[name]

    def renew(self) -> None:
        """Logs the prelude at an epoch boundary, with rules that changed where rules belong."""
        now = self._now(with_servers=self._servers.wanted)
        try:
            if now != self._conversation.projection.prelude:
                self._conversation.append(now)
        except StoreFailed as error:  # the compaction itself is logged
            logger.warning("session %s goes on with the rules as they were: %s", self._conversation.session_id, error)
