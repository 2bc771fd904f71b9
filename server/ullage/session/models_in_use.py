"""The models that the sessions of one workspace ask, and what is known of how each counts.

Which session asks which says `open_sessions.py`. Texts are counted by a model's tokenizer in the background: one after the other, in
another thread, each once.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from ullage.context.blocks import Json
from ullage.context.counting.categories import FixedParts
from ullage.context.counting.tokens import REMEMBERED, Calibration, mark_of
from ullage.models.choose import Provider, offered_models, try_model
from ullage.models.clouds.places import Clouds
from ullage.models.counting import CountText
from ullage.models.endpoint_checks import integer, mapping
from ullage.models.errors import AuthenticationFailed, ListRefused, ModelError
from ullage.models.facts import Facts, offered_with
from ullage.models.model import Effort, EffortChoice, Model, ModelCard, TokenizerVersion
from ullage.models.model_card import OfferedModel
from ullage.models.serialise import MediaBytes
from ullage.session.errors import SessionError
from ullage.session.settings import Settings
from ullage.session.timeline.updates import ModelInfo
from ullage.starting import Keys
from ullage.store.errors import StoreFailed
from ullage.store.user_state import UserState

logger = logging.getLogger(__name__)


LONGEST = 400_000
"""Characters: about a second. A longer text stays an estimate, as it does where the tokenizer fails."""


class ModelInUse:
    """The model of one session; `changed` is called whenever it is another one, or more is known of it."""

    def __init__(self, model: Model, changed: Callable[[], None]) -> None:
        self.model: Model = model
        self.card: ModelCard = model.expected()
        self._changed = changed

    def use(self, model: Model) -> None:
        """Another model answers from the next call on."""
        self.model = model
        self.card = model.expected()
        self._changed()

    async def learn(self) -> None:
        """Takes over what the endpoint says of the model, or has said since; until then the table's figures are used."""
        model = self.model
        card = await model.card()
        if model is self.model and card != self.card:
            self.card = card
            self._changed()

    @property
    def info(self) -> ModelInfo:
        """For the panel."""
        card = self.card
        return ModelInfo(card.name, card.display_name, card.practice, card.source, card.efforts, card.effort)


class ChooseModel(Protocol):
    """Makes the model of that name for the user's settings and key."""

    def __call__(
        self,
        *,
        provider: Provider,
        name: str,
        effort: Effort | None,
        base_url: str,
        api_key: str | None,
        media: MediaBytes,
        facts: Facts | None,
        clouds: Clouds,
        is_confirmed: Callable[[str], bool],
    ) -> Model:
        """`effort` is None where it is left to the model. `media` gives the bytes of what it is shown. `facts` is what the user says of it,
        `clouds` where a cloud is asked.

        Raises `ValueError` or `OSError` where the surroundings of the practice model are broken.
        """
        ...


class RememberedCounts(Protocol):
    """Where small values are kept for a workspace, under a key. Both raise `StoreFailed`."""

    def remember(self, key: str, value: Json) -> None:
        """In place of what was there."""
        ...

    def recalled(self, key: str) -> Json:
        """None where nothing was kept."""
        ...


def _tokens_by_prelude(value: Json) -> dict[str, dict[str, int]]:
    """What `FixedParts.to_remember` gave; empty where it is not that."""
    return {digest: counts for digest, tokens in mapping(value).items() if (counts := _counts(tokens))}


def _counts(value: object) -> dict[str, int]:
    return {name: tokens for name, each in mapping(value).items() if (tokens := integer(each)) is not None and tokens > 0}


class ModelsInWorkspace:
    """One model for each name and effort, made when it is first asked for; the learned ratios and the tokenizers of all of them."""

    def __init__(
        self,
        keys: Keys | None,
        choose: ChooseModel,
        media: MediaBytes,
        user_state: UserState,
        kept: RememberedCounts,
        find_tokenizer: Callable[[TokenizerVersion], CountText | None],
        counted: Callable[[], None],
    ) -> None:
        """`kept` is what the workspace remembers. `counted` is told when a tokenizer has counted something."""
        self._kept = kept
        self._base_url = ""
        self._keys = keys or Keys()
        self._choose = choose
        self._media = media
        self._user_state = user_state
        self._find_tokenizer = find_tokenizer
        self._counted = counted
        self.calibrations: dict[str, Calibration] = {}
        """By the model's name: what was learned of how it counts, now and in earlier sessions."""
        self._models: dict[tuple[str, Effort | None], Model] = {}
        self._leaving: set[asyncio.Task[None]] = set()
        """What frees the connections of models that are no longer asked."""
        self._fixed: dict[str, FixedParts] = {}
        """By the model's name, at the endpoint in use."""
        self._counts: dict[TokenizerVersion, TokenCounts | None] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self) -> None:
        """From now on tokenizers may count, beside the running loop."""
        self._loop = asyncio.get_running_loop()

    async def close(self) -> None:
        """Lets go of all models, and keeps the ratios that were learned."""
        await asyncio.gather(*(counts.close() for counts in self._counts.values() if counts is not None))
        self._remember_ratios()
        self._remember_fixed()
        self._let_go()
        await asyncio.gather(*self._leaving)

    def model(self, name: str, effort: EffortChoice, settings: Settings) -> Model:
        """The model of that name at the user's endpoint, asked for that effort where it takes it."""
        asked = None if effort == "default" else effort
        self._base_url = f"{settings.provider}:{settings.clouds}" if settings.provider in ("bedrock", "vertex") else settings.base_url
        if (name, asked) not in self._models:
            self._models[name, asked] = self._choose(
                name=name,
                effort=asked,
                provider=settings.provider,
                base_url=settings.base_url,
                api_key=self._keys.of(settings.provider, settings.base_url),
                media=self._media,
                facts=settings.facts.get(name),
                clouds=settings.clouds,
                is_confirmed=self._user_state.is_confirmed_address,
            )
        model = self._models[name, asked]
        self._calibrate(model.expected().name)
        self._recall_fixed(model.expected().name)
        return model

    async def offered(self, settings: Settings, address: str | None, provider: Provider | None = None) -> Sequence[OfferedModel]:
        """The models at the user's endpoint, or at `address`, which is asked without the key, as that `provider` is asked (Anthropic
        unless it is named). Raises `SessionError`."""
        try:
            models = await offered_models(
                provider=_provider_at(settings, address, provider),
                base_url=settings.base_url,
                api_key=self._keys.of(settings.provider, settings.base_url),
                address=address,
                clouds=settings.clouds,
                is_confirmed=self._user_state.is_confirmed_address,
            )
        except ModelError as error:
            raise _refusal_of(error) from error
        return [offered_with(model, settings.facts.get(model.name)) for model in models]

    async def try_out(self, settings: Settings, name: str, address: str | None, provider: Provider | None = None) -> None:
        """Sends that model one short message, at the user's endpoint or at `address`, as `offered`. Raises `SessionError`."""
        try:
            await try_model(
                name,
                provider=_provider_at(settings, address, provider),
                base_url=settings.base_url,
                api_key=self._keys.of(settings.provider, settings.base_url),
                address=address,
                clouds=settings.clouds,
                is_confirmed=self._user_state.is_confirmed_address,
            )
        except ModelError as error:
            raise _refusal_of(error) from error

    def forget(self) -> None:
        """The endpoint is another one: every model is made anew when it is next asked for. Calls that run are not cut off."""
        self._remember_fixed()
        self._fixed.clear()
        self._let_go()

    def _let_go(self) -> None:
        for model in self._models.values():
            leaving = asyncio.create_task(model.aclose())
            self._leaving.add(leaving)
            leaving.add_done_callback(self._leaving.discard)
        self._models.clear()

    def counts_of(self, card: ModelCard) -> TokenCounts | None:
        """Who counts for that model. May be asked for the first time on the loop and in a thread that reads a session, both at once."""
        version = card.tokenizer
        if version is None:
            return None
        if version not in self._counts and self._loop is not None:
            count = self._find_tokenizer(version)
            made = None if count is None else TokenCounts(count, self._counted)
            counts = self._counts.setdefault(version, made)
            if counts is not None and counts is made:
                counts.begin(self._loop)
        return self._counts.get(version)

    def fixed_of(self, card: ModelCard) -> FixedParts:
        """What system prompt and tools were last counted as for that model."""
        return self._fixed.setdefault(card.name, FixedParts())

    def _calibrate(self, model_name: str) -> None:
        learned, of_counts = self._user_state.ratio(model_name), self._user_state.ratio(model_name, "counted_ratios")
        if learned is not None:
            calibration = Calibration(learned) if of_counts is None else Calibration(learned, of_counts)
            self.calibrations.setdefault(model_name, calibration)

    def _recall_fixed(self, model_name: str) -> None:
        if model_name in self._fixed:
            return
        try:
            known = self._kept.recalled(self._key(model_name))
        except StoreFailed as error:
            logger.warning("what system prompt and tools took before is not known: %s", error)
            known = None
        self._fixed[model_name] = FixedParts(_tokens_by_prelude(known))

    def _remember_fixed(self) -> None:
        for name, parts in self._fixed.items():
            known = parts.to_remember()
            try:
                if known and known != _tokens_by_prelude(self._kept.recalled(self._key(name))):
                    self._kept.remember(self._key(name), {digest: dict(tokens) for digest, tokens in known.items()})
            except StoreFailed as error:
                logger.warning("what system prompt and tools take could not be kept: %s", error)
                return

    def _key(self, model_name: str) -> str:
        return f"fixed:{model_name}@{self._base_url}"

    def _remember_ratios(self) -> None:
        for name, calibration in self.calibrations.items():
            try:
                self._user_state.remember_ratio(name, calibration.ratio)
                if calibration.counted_ratio != Calibration().counted_ratio:
                    self._user_state.remember_ratio(name, calibration.counted_ratio, "counted_ratios")
            except StoreFailed as error:
                logger.warning("the learned token ratios could not be kept: %s", error)
                return


class TokenCounts:
    """What one tokenizer counted; a `Counts`. `counted` is called on the loop once all that was wanted is known.

    Texts may be asked for from any thread; what was counted becomes known on the loop alone, once `begin` has named it.
    """

    def __init__(self, count: CountText, counted: Callable[[], None]) -> None:
        self._count = count
        self._counted = counted
        self._known: dict[int, int | None] = {}
        """By what stands for a text (`mark_of`)."""
        self._wanted: deque[str] = deque()
        self._asked: set[str] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._work: asyncio.Task[None] | None = None
        self.version = 0
        """Goes up with each text that was counted."""
        self.remember_at_most = REMEMBERED
        """Texts; the oldest are forgotten."""

    def known(self, text: str) -> int | None:
        """Tokens of `text`; None where it was not counted (yet)."""
        return self._known.get(mark_of(text))

    def want(self, texts: Sequence[str]) -> None:
        """They are counted soon, in this order."""
        new = [text for text in texts if text and mark_of(text) not in self._known and text not in self._asked and len(text) <= LONGEST]
        if not new:
            return
        self._asked.update(new)
        self._wanted.extend(dict.fromkeys(new))
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._go_on)

    def begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """From now on it counts."""
        self._loop = loop
        loop.call_soon_threadsafe(self._go_on)

    async def close(self) -> None:
        """Counts no more. A text that is being counted is counted to its end in its thread, and nobody hears of it."""
        self._loop = None
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)

    async def settled(self) -> None:
        """Waits until all that was wanted is known."""
        await asyncio.sleep(0)  # what was asked for just now begins with the loop's next round
        while self._work is not None:
            await asyncio.shield(self._work)

    def _go_on(self) -> None:
        if self._work is None and self._wanted and self._loop is not None:
            self._work = self._loop.create_task(self._count_all(), name="count tokens")

    async def _count_all(self) -> None:
        try:
            while self._wanted:
                text = self._wanted.popleft()
                self._known[mark_of(text)] = await asyncio.to_thread(self._counted_or_none, text)
                self.version += 1
                self._asked.discard(text)
                if len(self._known) > self.remember_at_most:
                    del self._known[next(iter(self._known))]
        finally:
            self._work = None
        self._counted()

    def _counted_or_none(self, text: str) -> int | None:
        try:
            return self._count(text)
        except Exception as error:  # noqa: BLE001 - whatever it does not like of a text: the estimate stands
            logger.warning("a text of %d characters could not be counted: %s: %s", len(text), type(error).__name__, error)
            return None


def _provider_at(settings: Settings, address: str | None, provider: Provider | None) -> Provider:
    return settings.provider if address is None else provider or "anthropic"


def _refusal_of(error: ModelError) -> SessionError:
    """Why an endpoint cannot be connected."""
    if isinstance(error, AuthenticationFailed):
        return SessionError("key_refused", str(error))
    return SessionError("list_refused" if isinstance(error, ListRefused) else "endpoint_failed", str(error))
