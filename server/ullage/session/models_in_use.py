"""The models that the sessions of one workspace ask, and what is known of how each counts.

`open_sessions.py` says which session asks which model, `token_counts.py` counts texts by a model's tokenizer.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from ullage.context.blocks import Json
from ullage.context.counting.fixed_parts import FixedParts
from ullage.context.counting.tokens import Calibration
from ullage.models.choose import Provider, address_in_force, offered_models, shown_address, try_model
from ullage.models.clouds.places import Clouds
from ullage.models.counting import CountText
from ullage.models.editor_models import NO_EDITOR_MODELS, EditorModels
from ullage.models.endpoint_checks import integer, mapping
from ullage.models.errors import AuthenticationFailed, ListRefused, ModelError, public_url
from ullage.models.facts import ModelFacts, offered_with
from ullage.models.model import Effort, EffortChoice, Model, ModelCard, TokenizerVersion
from ullage.models.model_card import OfferedModel
from ullage.models.serialise import MediaBytes
from ullage.session.errors import SessionError
from ullage.session.settings import Settings
from ullage.session.timeline.updates import ModelInfo
from ullage.session.token_counts import CountTexts, TokenCounts, in_a_thread
from ullage.starting import Keys, written_out
from ullage.store.errors import StoreFailed
from ullage.store.user_state import UserState

logger = logging.getLogger(__name__)


class ModelInUse:
    """The model of one session. `changed` is called whenever another model is in use, or more is known of it."""

    def __init__(self, model: Model, changed: Callable[[], None]) -> None:
        self.model: Model = model
        self.card: ModelCard = model.expected()
        self._changed = changed

    def use(self, model: Model) -> None:
        """Has another model answer from the next call on."""
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
        """What the panel shows of the model."""
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
        facts: ModelFacts | None,
        clouds: Clouds,
        is_confirmed: Callable[[str], bool],
        editor: EditorModels,
        fault: str,
    ) -> Model:
        """`effort` is None if it is left to the model. `media` gives the bytes of the images that it is shown. `facts` is what the user
        says of the model, `clouds` where a cloud is asked. `editor` has models of its own. With a `fault` (`Settings.endpoint_fault`)
        nobody is asked.

        Raises `ValueError` or `OSError` if the surroundings of the practice model are broken.
        """
        ...


class RememberedCounts(Protocol):
    """Keeps small values for a workspace, each under a key. Both methods raise `StoreFailed`."""

    def remember(self, key: str, value: Json) -> None:
        """Keeps a value in place of what was there."""
        ...

    def recalled(self, key: str) -> Json:
        """The value of a key; None if nothing was kept."""
        ...


def _tokens_by_prelude(value: Json) -> dict[str, dict[str, int]]:
    """The counts that `FixedParts.to_remember` gave; empty if the value is something else."""
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
        editor: EditorModels = NO_EDITOR_MODELS,
    ) -> None:
        """`kept` is what the workspace remembers. `counted` is called when a tokenizer has counted something. `editor` has models of its
        own."""
        self._editor = editor
        self._kept = kept
        self._base_url = ""
        self._keys = keys or Keys()
        self._choose = choose
        self._media = media
        self._user_state = user_state
        self._find_tokenizer = find_tokenizer
        self._counted = counted
        self.calibrations: dict[str, Calibration] = {}
        """What was learned of how each model counts, now and in earlier sessions, by the model's name."""
        self._models: dict[tuple[str, Effort | None], Model] = {}
        self._leaving: set[asyncio.Task[None]] = set()
        """The tasks that free the connections of models that are no longer asked."""
        self._fixed: dict[str, FixedParts] = {}
        """What system prompt, rules and tools take with each model at the endpoint in use, by the model's name."""
        self._counts: dict[str, TokenCounts | None] = {}
        """Who counts tokens, by the version of Claude's tokenizer, or by the name of a model of the editor; None if nobody can."""
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self) -> None:
        """Lets tokenizers count from now on, beside the running loop."""
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
                api_key=self._api_key(settings),
                media=self._media,
                facts=settings.facts.get(name),
                clouds=settings.clouds,
                is_confirmed=self._user_state.is_confirmed_address,
                editor=self._editor,
                fault=settings.endpoint_fault,
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
                api_key=self._api_key(settings),
                address=address,
                clouds=settings.clouds,
                is_confirmed=self._user_state.is_confirmed_address,
                editor=self._editor,
                fault=settings.endpoint_fault,
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
                api_key=self._api_key(settings),
                address=address,
                clouds=settings.clouds,
                is_confirmed=self._user_state.is_confirmed_address,
                editor=self._editor,
                fault=settings.endpoint_fault,
            )
        except ModelError as error:
            raise _refusal_of(error) from error

    def withheld_key(self, settings: Settings) -> str | None:
        """What the user is told where their key was given for another address than the one that is asked; None where it was not."""
        address = address_in_force(settings.provider, settings.base_url)
        if settings.provider == "practice" or not self._keys.own_is_for_another(settings.provider, address):
            return None
        given, other = (shown_address(public_url(written_out(each))) for each in (self._keys.own_address or "", address))
        if address and not settings.base_url.strip():
            return (
                f"ANTHROPIC_BASE_URL in the environment leads to {other}, but the stored API key was given for {given}. So it is not sent "
                'there. Set a key for that address with the command "Ullage: Set API key…".'
            )
        return (
            f'The setting "Ullage › Model: Base Url" leads to {other}, but the stored API key was given for {given}. So it is not sent '
            'there. Set a key for that address with the command "Ullage: Set API key…".'
        )

    def _api_key(self, settings: Settings) -> str | None:
        return self._keys.of(settings.provider, address_in_force(settings.provider, settings.base_url))

    def forget(self) -> None:
        """Lets go of all models, since the endpoint is another one: each is made anew when it is next asked for. Calls that run are not cut
        off."""
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
        """Who counts tokens for that model; None if nobody can. May be asked for the first time on the loop and in a thread that reads a
        session, both at once."""
        by = card.name if card.editor_counts else card.tokenizer
        if by is None:
            return None
        if by not in self._counts and self._loop is not None:
            count = self._counting_for(card)
            made = None if count is None else TokenCounts(count, self._counted)
            counts = self._counts.setdefault(by, made)
            if counts is not None and counts is made:
                counts.begin(self._loop)
        return self._counts.get(by)

    def _counting_for(self, card: ModelCard) -> CountTexts | None:
        if card.editor_counts:
            return partial(self._editor.count, card.name)
        count = None if card.tokenizer is None else self._find_tokenizer(card.tokenizer)
        return None if count is None else partial(in_a_thread, count)

    def fixed_of(self, card: ModelCard) -> FixedParts:
        """The tokens of system prompt, rules and tools, as they were last counted for that model."""
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


def _provider_at(settings: Settings, address: str | None, provider: Provider | None) -> Provider:
    if provider == "editor":
        return provider
    return settings.provider if address is None else provider or "anthropic"


def _refusal_of(error: ModelError) -> SessionError:
    """The refusal that says why an endpoint cannot be connected."""
    if isinstance(error, AuthenticationFailed):
        return SessionError("key_refused", str(error))
    return SessionError("list_refused" if isinstance(error, ListRefused) else "endpoint_failed", str(error))
