"""Process settings: read once from the environment (prefix `ATTEST_`), checked, frozen.

`ES_URL` and `REDIS_URL` are understood without the prefix, since the local stack and most hosts set them so.
Every field is described in docs/configuration.md; a test compares the two.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

from pydantic import AliasChoices, Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from service.errors import Misconfigured

PREFIX = "ATTEST_"
VectorIndex = Literal["flat", "hnsw", "int8_hnsw"]


class Settings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, extra="ignore", populate_by_name=True)

    engine: Literal["embedded", "elasticsearch"] = Field(
        "embedded", description="Which engine holds everything."
    )
    prefix: str = Field(
        "attest", pattern=r"^[a-z][a-z0-9-]{0,30}$", description="Prefix of every index and alias."
    )
    data_dir: Path = Field(
        Path(".local/attest"), description="Where the embedded engine and caches keep files."
    )

    es_url: str | None = Field(
        None,
        validation_alias=AliasChoices("ATTEST_ES_URL", "ES_URL"),
        description="Elasticsearch node URLs, separated by commas.",
    )
    es_api_key: SecretStr | None = Field(None, description="Elasticsearch API key.")
    es_username: str | None = Field(None, description="Elasticsearch user for basic authentication.")
    es_password: SecretStr | None = Field(None, description="Password of that user.")
    es_ca_certs: Path | None = Field(
        None, description="CA bundle to verify Elasticsearch's certificate with."
    )
    es_shards: int = Field(1, ge=1, le=64, description="Primary shards of a new generation.")
    es_replicas: int = Field(
        0, ge=0, le=8, description="Replicas of a generation, added before it goes live."
    )
    es_force_merge: bool = Field(
        False,
        description="Merge a new generation into one segment a shard before it goes live: slower to build, less to "
        "search.",
    )
    vector_index: VectorIndex = Field(
        "flat",
        description="Vector index type; `flat` is exact, so no member or order depends on hidden documents.",
    )

    rollback_window_hours: float = Field(
        24, ge=0, le=8760, description="Hours for which what was live, or stood ready, is kept from `prune`."
    )

    redis_url: str | None = Field(
        None,
        validation_alias=AliasChoices("ATTEST_REDIS_URL", "REDIS_URL"),
        description="Redis for the answer cache; without it answers are the same, slower.",
    )
    cache_secret: SecretStr | None = Field(
        None,
        description="Secret that seals cache entries (at least 32 bytes); default: derived from the token secret, "
        "else each process seals for itself.",
    )
    cache_ttl_s: int = Field(600, ge=1, le=86_400, description="Seconds a cached answer lives.")

    conversation_ttl_s: int = Field(
        3600,
        ge=1,
        le=604_800,
        description="Seconds after its last turn for which a conversation can be gone on with.",
    )

    embedder: str = Field("multilingual-e5-small", description="Folder name of the embedder.")
    rerank_models_dir: Path | None = Field(
        None, description="Folder of reranker folders; default: the shipped one."
    )
    profile: str = Field("default", description="Ranking profile used when a question names none.")
    llm_url: str | None = Field(
        None,
        pattern=r"^https?://",
        description="Base URL of an OpenAI-compatible server, mostly ending in /v1. Only profiles that answer by a "
        "model send it anything. Needs the extra `llm`.",
    )
    llm_api_key: SecretStr | None = Field(
        None, description="Its key; without one the word `none` is sent as key."
    )
    llm_model: str | None = Field(None, description="The model's name on that server.")
    llm_timeout_s: float = Field(
        20.0,
        gt=0,
        le=120,
        description="Most seconds for one reply. The request's deadline holds as well, less 1.5 s for what comes "
        "after.",
    )
    llm_form: Literal["schema", "tagged"] = Field(
        "schema",
        description="How replies are asked for: by JSON schema, with tags where the server refuses that; or with tags "
        "at once, for servers that pass over a schema.",
    )
    llm_tokenizer: Path | None = Field(
        None,
        description="The model's tokenizer.json, to count evidence by; default: the embedder's tokenizer.",
    )
    onnx_threads: int = Field(2, ge=1, le=64, description="Threads of one ONNX session.")

    token_secret: SecretStr | None = Field(
        None, description="HS256 secret for development tokens (at least 32 bytes); unset refuses HS256."
    )
    token_keys_file: Path | None = Field(
        None, description="JWKS file with RS256 or ES256 public keys, chosen by kid."
    )
    token_secret_with_keys: bool = Field(
        False, description="Take HS256 beside a key file; otherwise a key file refuses it."
    )
    token_issuer: str = Field("attest", description="Required `iss` of a token.")
    token_audience: str = Field("attest", description="Required `aud` of a token.")
    token_leeway_s: int = Field(30, ge=0, le=300, description="Clock leeway for exp and nbf, seconds.")

    token: SecretStr | None = Field(
        None,
        description="A signed token as whose holder commands act, with its roles; else as the person at the shell.",
    )

    host: str = Field("127.0.0.1", description="Address `attest serve` binds.")
    port: int = Field(8080, ge=1, le=65_535, description="Port `attest serve` binds.")
    workers: int = Field(1, ge=1, le=64, description="gunicorn worker processes; each loads the models once.")
    threads: int = Field(8, ge=1, le=256, description="gunicorn threads per worker.")
    max_body_bytes: int = Field(65_536, ge=1024, le=10_485_760, description="Largest request body.")
    rate_per_minute: int = Field(
        600,
        ge=0,
        le=1_000_000,
        description="Requests a minute that one caller (tenant and subject) may make, counted over all processes "
        "in Redis, without it by each for itself; 0 sets no limit.",
    )
    rate_burst: int = Field(
        60, ge=1, le=100_000, description="Requests that one caller may make at once before that rate holds."
    )
    max_concurrent: int | None = Field(
        None,
        ge=1,
        le=256,
        description="Requests with a token under way at once in one process; default: one less than the threads, at "
        "least one.",
    )
    max_concurrent_per_principal: int = Field(
        4, ge=1, le=256, description="Of these, the most that one caller may have."
    )
    request_timeout_s: float = Field(
        8.0, gt=0, le=120, description="Deadline of one online request, seconds."
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("INFO", description="Least level logged.")

    @property
    def requests_at_once(self) -> int:
        """One thread stays free to refuse what is too much and to say that the process lives."""
        return self.max_concurrent or max(1, self.threads - 1)

    @model_validator(mode="after")
    def _fits_together(self) -> Settings:
        if self.engine == "elasticsearch" and not self.es_url:
            raise ValueError("engine is elasticsearch, but neither ATTEST_ES_URL nor ES_URL is set")
        if self.llm_url and not self.llm_model:
            raise ValueError("ATTEST_LLM_URL is set, but not ATTEST_LLM_MODEL")
        for name in ("token_secret", "cache_secret"):
            secret: SecretStr | None = getattr(self, name)
            if secret is not None and len(secret.get_secret_value().encode()) < 32:
                raise ValueError(f"ATTEST_{name.upper()} is shorter than 32 bytes")
        return self


def environment_of(settings: Settings) -> dict[str, str]:
    """The variables from which another process loads these very settings."""
    values: dict[str, str] = {}
    for name in settings.model_fields_set:
        value = getattr(settings, name)
        if value is not None:
            values[PREFIX + name.upper()] = (
                value.get_secret_value() if isinstance(value, SecretStr) else str(value)
            )
    return values


def load_settings(**changes: Any) -> Settings:
    """Settings from the environment, with `changes` instead of what stands there.

    Raises Misconfigured, naming the variable, also for a misspelt one.
    """
    known = {PREFIX + name.upper() for name in Settings.model_fields}
    strange = sorted(name for name in os.environ if name.startswith(PREFIX) and name not in known)
    if strange:
        raise Misconfigured(f"Unknown setting {strange[0]}; docs/configuration.md lists the known ones.")
    try:
        return Settings(**changes)
    except ValidationError as error:
        lines = [f"{'.'.join(map(str, e['loc'])) or 'settings'}: {e['msg']}" for e in error.errors()]
        raise Misconfigured("Settings do not hold: " + "; ".join(lines)) from None
