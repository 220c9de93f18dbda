"""The one place where ports meet adapters: settings in, the two paths out. App, cli and tests start here."""

from __future__ import annotations

import functools
import hmac
import os
import pwd
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from service.adapters.file_conversations import FileConversations
from service.adapters.rate_limit import LocalLimiter, NoLimiter, Rate
from service.adapters.redis_cache import NoCache, RedisCache
from service.adapters.redis_conversations import RedisConversations
from service.adapters.redis_limiter import RedisLimiter
from service.adapters.sealed_cache import SealedCache
from service.domain.ports import Cache, Conversations, Embedder, Engine, IndexSettings, RateLimiter
from service.errors import InvalidInput, Misconfigured
from service.evaluation.gates import OnlineTrial
from service.offline.ingest.chunking import Chunker
from service.offline.story import Offline
from service.online.answering.extractive import propose
from service.online.answering.writing import Writer
from service.online.caching import EffectiveScopes
from service.online.conversation import Dialogue
from service.online.entry import Event, Online
from service.online.readiness import Readiness
from service.online.reading import Read
from service.online.rerank.contract import Reranker
from service.online.rerank.cross_encoder import CrossEncoderReranker
from service.online.rerank.registry import load_reranker
from service.online.reviewing import ReviewKeeper
from service.online.story import Story
from service.onnx.embedder import OnnxEmbedder
from service.onnx.reader import OnnxReader
from service.onnx.session import token_counter
from service.profiles.ranking import RankingProfile, load_profile
from service.settings import Settings

RIGHTS_IN_USE_S = 2.0  # how long listing the rights in use may take, once for each change of rights
EMBEDDERS = Path(__file__).parent / "embedders"
READERS = Path(__file__).parent / "readers"
_ROOTS = (Path(__file__).parent.parent, Path(__file__).parent / "_data")  # a checkout, an installed package


def data_folder(name: str) -> Path:
    """A folder that stands beside the package in a checkout and inside it once installed."""
    for root in _ROOTS:
        if (root / name).is_dir():
            return root / name
    raise Misconfigured(f"The folder {name}/ is neither beside the package nor in it; reinstall.")


def open_engine(settings: Settings) -> Engine:
    """The configured engine. Opening needs no server yet; the first call does."""
    if settings.engine == "embedded":
        from service.adapters.embedded import open_embedded

        return open_embedded(settings.data_dir, settings.prefix)
    from service.adapters.elastic import open_elastic

    return open_elastic(
        settings.prefix,
        [url.strip() for url in str(settings.es_url).split(",")],
        api_key=settings.es_api_key.get_secret_value() if settings.es_api_key else None,
        username=settings.es_username,
        password=settings.es_password.get_secret_value() if settings.es_password else None,
        ca_certs=settings.es_ca_certs,
    )


def open_cache(settings: Settings, on_event: Event) -> Cache:
    if settings.redis_url is None:
        return NoCache()
    cache = RedisCache(settings.redis_url, on_error=lambda kind: on_event("cache_error", kind, 1))
    return SealedCache(cache, _cache_secret(settings))


def _cache_secret(settings: Settings) -> bytes:
    """The configured secret, else one derived from that of tokens, else this process's own: entries are then not
    shared with other processes, and never believed without a seal."""
    if settings.cache_secret is not None:
        return settings.cache_secret.get_secret_value().encode()
    if settings.token_secret is not None:
        return hmac.digest(
            settings.token_secret.get_secret_value().encode(), b"attest cache entries", "sha256"
        )
    return secrets.token_bytes(32)


def open_conversations(settings: Settings, on_event: Event) -> Conversations:
    if settings.redis_url is None:
        return FileConversations(settings.data_dir / "conversations.sqlite", settings.prefix)
    return RedisConversations(
        settings.redis_url,
        settings.prefix,
        _cache_secret(settings),
        on_error=lambda kind: on_event("conversation_error", kind, 1),
    )


def open_limiter(settings: Settings, on_event: Event) -> RateLimiter:
    if settings.rate_per_minute == 0:
        return NoLimiter()
    rate = Rate(settings.rate_per_minute, settings.rate_burst)
    if settings.redis_url is None:
        return LocalLimiter(rate)
    return RedisLimiter(
        settings.redis_url, rate, settings.prefix, on_error=lambda kind: on_event("limiter_error", kind, 1)
    )


def open_writer(settings: Settings, count_tokens: Callable[[str], int]) -> Writer | None:
    """The language model's answerer, where there is a model. `count_tokens` serves one without its own tokenizer."""
    if settings.llm_url is None or settings.llm_model is None:
        return None
    try:
        from service.adapters.generator import OpenAiGenerator
    except ImportError as error:
        raise Misconfigured(
            f"ATTEST_LLM_URL is set, but {error.name} is not installed: pip install 'attest[llm]', or unset it."
        ) from None
    key = settings.llm_api_key.get_secret_value() if settings.llm_api_key else None
    return Writer(
        generator=OpenAiGenerator(settings.llm_url, settings.llm_model, key),
        form=settings.llm_form,
        timeout_s=settings.llm_timeout_s,
        count_tokens=token_counter(settings.llm_tokenizer) if settings.llm_tokenizer else count_tokens,
    )


def _profile_loader(writer: Writer | None) -> Callable[[str], RankingProfile]:
    """Profiles by name; one that answers by a model is none where there is no model."""

    def load(name: str) -> RankingProfile:
        profile = load_profile(name)
        if profile.answer.by == "model" and writer is None:
            raise InvalidInput(
                f"The profile {name} answers by a language model, and none is set (ATTEST_LLM_URL)."
            )
        return profile

    return functools.cache(load)


@dataclass(frozen=True)
class Services:
    """Everything that runs on one set of settings. Parts are made when first used: `--help` loads no model."""

    settings: Settings
    on_event: Event
    acting: str | None = None

    @property
    def who(self) -> str:
        """Who changes things, for the audit: whom a token lets act, else the account that runs this process. The
        account is asked of the system: what the environment calls it is anybody's word."""
        if self.acting is not None:
            return self.acting
        try:
            return pwd.getpwuid(os.getuid()).pw_name
        except KeyError:
            return f"uid {os.getuid()}"

    @cached_property
    def engine(self) -> Engine:
        return open_engine(self.settings)

    @cached_property
    def embedder(self) -> OnnxEmbedder:
        folder = EMBEDDERS / self.settings.embedder
        if not (folder / "manifest.toml").is_file():
            known = ", ".join(sorted(path.name for path in EMBEDDERS.iterdir() if path.is_dir()))
            raise Misconfigured(f"There is no embedder folder {self.settings.embedder!r}; found: {known}.")
        return OnnxEmbedder(folder, threads=self.settings.onnx_threads)

    @cached_property
    def offline(self) -> Offline:
        from service.adapters.elastic.mappings import mapping_version

        settings = self.settings
        return Offline(
            engine=self.engine,
            embedder=self.embedder,
            chunker=Chunker(),
            mapping_version=mapping_version(),
            index=IndexSettings(
                dimension=self.embedder.dimension,
                shards=settings.es_shards,
                replicas=settings.es_replicas,
                vector_index=settings.vector_index,
                force_merge=settings.es_force_merge,
            ),
            who=self.who,
            trial=OnlineTrial(
                online_path(
                    settings.model_copy(update={"redis_url": None}),
                    self.engine,
                    self.embedder,
                    self.embedder.count_tokens,
                    silent,
                )
            ),
        )

    @cached_property
    def limiter(self) -> RateLimiter:
        return open_limiter(self.settings, self.on_event)

    @cached_property
    def online(self) -> Online:
        return online_path(
            self.settings, self.engine, self.embedder, self.embedder.count_tokens, self.on_event
        )


def online_path(
    settings: Settings,
    engine: Engine,
    embedder: Embedder,
    count_tokens: Callable[[str], int],
    on_event: Event,
) -> Online:
    """The online path over any engine and embedder; tests and experiments hand in their own."""
    rerankers = settings.rerank_models_dir or data_folder("rerank_models")
    writer = open_writer(settings, count_tokens)
    cache = open_cache(settings, on_event)
    return Online(
        story=Story(
            engine=engine,
            embedder=embedder,
            load_reranker=_reranker_loader(rerankers, settings.onnx_threads),
            load_reader=_reader_loader(settings.onnx_threads),
            answerer=propose,
            writer=writer,
            count_tokens=count_tokens,
            executor=ThreadPoolExecutor(max_workers=settings.threads, thread_name_prefix="online"),
        ),
        cache=cache,
        scopes=EffectiveScopes(
            lambda generation, tenant: engine.retrieval.rights_in_use(generation, tenant, RIGHTS_IN_USE_S)
        ),
        load_profile=_profile_loader(writer),
        default_profile=settings.profile,
        request_timeout_s=settings.request_timeout_s,
        cache_ttl_s=settings.cache_ttl_s,
        on_event=on_event,
        dialogue=Dialogue(open_conversations(settings, on_event), settings.conversation_ttl_s),
        readiness=Readiness(engine, cache, embedder.identity),
        reviews=ReviewKeeper(on_event),
    )


def _reranker_loader(root: Path, threads: int) -> Callable[[RankingProfile], Reranker | None]:
    """Loads each profile's reranker once."""
    loaded: dict[str, Reranker | None] = {}

    def load(profile: RankingProfile) -> Reranker | None:
        if profile.identity not in loaded:
            loaded[profile.identity] = load_reranker(
                profile.rerank.model,
                root,
                profile.rerank.weights,
                lambda folder: CrossEncoderReranker(folder, threads),
            )
        return loaded[profile.identity]

    return load


def _reader_loader(threads: int) -> Callable[[RankingProfile], Read | None]:
    """Loads each reader once."""

    @functools.cache
    def load(name: str) -> Read:
        if not (READERS / name / "manifest.toml").is_file():
            known = ", ".join(sorted(path.name for path in READERS.iterdir() if path.is_dir()))
            raise Misconfigured(f"There is no reader folder {name!r}; found: {known}.")
        return OnnxReader(READERS / name, EMBEDDERS, threads).read

    return lambda profile: None if profile.reader.model == "none" else load(profile.reader.model)


def silent(kind: str, name: str, value: float) -> None:
    """Where nobody listens to metrics: the command line, tests."""


def build(settings: Settings, on_event: Event = silent, *, acting: str | None = None) -> Services:
    """`acting` is who acts by a token; without one the account that runs this process does."""
    return Services(settings, on_event, acting)
