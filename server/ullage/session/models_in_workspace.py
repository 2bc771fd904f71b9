"""The models that the sessions of one workspace ask, and what is known of how each counts. Which session asks which: `open_sessions.py`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Protocol

from ullage.context.counting.fixed_parts import FixedParts
from ullage.context.counting.tokens import Calibration
from ullage.models.choose import Provider, offered_models
from ullage.models.errors import AuthenticationFailed, ModelError
from ullage.models.model import Effort, EffortChoice, Model, ModelCard, TokenizerVersion
from ullage.models.offered import OfferedModel
from ullage.models.shown_media import MediaBytes
from ullage.models.tokenizers import CountText
from ullage.session.errors import SessionError
from ullage.session.settings import Settings
from ullage.session.token_counts import TokenCounts
from ullage.store.errors import StoreFailed
from ullage.store.user_state import UserState

logger = logging.getLogger(__name__)


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
        is_confirmed: Callable[[str], bool],
    ) -> Model:
        """`effort` is None where it is left to the model. `media` gives the bytes of what it is shown.

        Raises `ValueError` or `OSError` where the surroundings of the practice model are broken.
        """
        ...


class ModelsInWorkspace:
    """One model for each name and effort, made when it is first asked for; the learned ratios and the tokenizers of all of them."""

    def __init__(
        self,
        api_key: str | None,
        choose: ChooseModel,
        media: MediaBytes,
        user_state: UserState,
        find_tokenizer: Callable[[TokenizerVersion], CountText | None],
        counted: Callable[[], None],
    ) -> None:
        """`counted` is told when a tokenizer has counted something."""
        self._api_key = api_key
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
        self._let_go()
        await asyncio.gather(*self._leaving)

    def model(self, name: str, effort: EffortChoice, settings: Settings) -> Model:
        """The model of that name at the user's endpoint, asked for that effort where it takes it."""
        asked = None if effort == "default" else effort
        if (name, asked) not in self._models:
            self._models[name, asked] = self._choose(
                name=name,
                effort=asked,
                provider=settings.provider,
                base_url=settings.base_url,
                api_key=self._api_key,
                media=self._media,
                is_confirmed=self._user_state.is_confirmed_address,
            )
        model = self._models[name, asked]
        self._calibrate(model.expected().name)
        return model

    async def offered(self, settings: Settings, address: str | None) -> Sequence[OfferedModel]:
        """The models at the user's endpoint, or at `address`, which is asked without the key. Raises `SessionError`."""
        try:
            return await offered_models(
                provider=settings.provider,
                base_url=settings.base_url,
                api_key=self._api_key,
                address=address,
                is_confirmed=self._user_state.is_confirmed_address,
            )
        except ModelError as error:
            raise SessionError("key_refused" if isinstance(error, AuthenticationFailed) else "endpoint_failed", str(error)) from error

    def forget(self) -> None:
        """The endpoint is another one: every model is made anew when it is next asked for. Calls that run are not cut off."""
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

    def _remember_ratios(self) -> None:
        for name, calibration in self.calibrations.items():
            try:
                self._user_state.remember_ratio(name, calibration.ratio)
                if calibration.counted_ratio != Calibration().counted_ratio:
                    self._user_state.remember_ratio(name, calibration.counted_ratio, "counted_ratios")
            except StoreFailed as error:
                logger.warning("the learned token ratios could not be kept: %s", error)
                return
