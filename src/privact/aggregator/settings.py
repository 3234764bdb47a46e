"""Settings of an aggregator: from the command line, else the environment (PRIVACT_...), else a TOML file, else as below."""

from __future__ import annotations

import os
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from privact.errors import InputError
from privact.protocol.addresses import is_loopback

__all__ = ["Settings", "read_settings"]

_PREFIX: Final = "PRIVACT_"
_OF_OTHERS: Final = {
    "CONFIG",
    "DATA",
    "HOME",
    "REQUIRE_BROWSER",
    "REQUIRE_DEPLOYMENT",
    "REQUIRE_POSTGRES",
    "SCREENSHOTS",
    "TOKEN",
    "URL",
}
"""Environment variables with our prefix that are not settings of an aggregator."""


class Settings(BaseSettings):
    """How one aggregator runs; `privact serve --help` and docs/operate.md describe the same fields."""

    model_config = SettingsConfigDict(env_prefix=_PREFIX, extra="forbid", frozen=True, env_ignore_empty=True)

    data_folder: Path = Field(Path("privact-data"), description="Folder of the SQLite database, released trees and ratings.")
    database: str = Field("", description="sqlite:///FILE or postgresql://USER@HOST/NAME; empty: a file in data_folder.")
    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(8420, ge=0, le=65535, description="Port to listen on; 0: any free one.")
    allow_plain_http: bool = Field(False, description="Listen on a host that is not loopback, without TLS.")
    forwarded_allow_ips: str = Field("127.0.0.1", description="Proxies whose X-Forwarded-For is believed; comma-separated.")
    operator_token: SecretStr | None = Field(
        None, description="The operator's token, operator.<43 characters>; else one is made."
    )
    minimum_users: int = Field(100, ge=2, description="Fewest users of a round, and fewest reports that are learned from.")
    minimum_epsilon: float = Field(0.01, ge=0, description="Smallest epsilon of a round: below it noise hides everything.")
    public_trees: bool = Field(True, description="Whether released trees and labels can be read without a token.")
    ratings_verb: str = Field(
        "rated", max_length=40, description="What users do with items, in reasons: rated, play, bookmarked."
    )
    minimum_holders: int = Field(3, ge=1, description="Fewest users who must have an item for it to be recommended.")
    report_rate: float = Field(1.0, ge=0, description="Requests a second of one user, on average; 0: no limit.")
    report_burst: int = Field(20, ge=1, description="Requests of one user at once.")
    login_failure_rate: float = Field(1.0, ge=0, description="Wrong tokens a second from one address; 0: no limit.")
    login_failure_burst: int = Field(20, ge=1, description="Wrong tokens from one address at once.")
    operator_rate: float = Field(20.0, ge=0, description="Requests a second of the operator; 0: no limit.")
    operator_burst: int = Field(200, ge=1, description="Requests of the operator at once.")
    queue_length: int = Field(4096, ge=1, description="Reports waiting for the disk before the server responds 503.")
    public_rate: float = Field(50.0, ge=0, description="Public queries a second from one address; 0: no limit.")
    public_burst: int = Field(200, ge=1, description="Public queries from one address at once.")
    public_workers: int = Field(2, ge=1, le=64, description="Public queries that are computed at once.")
    public_queue: int = Field(128, ge=1, description="Public queries running or waiting before the server responds 503.")
    learn_seconds: int = Field(86_400, ge=1, description="How long a round may be learned before it fails.")
    retention_days: int = Field(0, ge=0, description="Days after which reports and removed users are erased; 0: never.")
    minimum_free_bytes: int = Field(64 * 2**20, ge=0, description="Free disk space below which the server is not ready.")
    learn_workers: int = Field(1, ge=1, le=64, description="Rounds that are learned at once, each in a process.")
    learn_cluster: str = Field("", description="Dask scheduler that learns rounds, or local:N; empty: this machine's cores.")
    drain_seconds: float = Field(10.0, ge=0, description="How long requests may still take after SIGTERM.")
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="Least serious lines that are logged.")

    @field_validator("report_rate", "login_failure_rate", "operator_rate", "public_rate", "minimum_epsilon", "drain_seconds")
    @classmethod
    def _finite(cls, value: float) -> float:
        if value == float("inf"):
            raise ValueError("must be finite: 0 switches a limit off")
        return value

    @model_validator(mode="after")
    def _only_loopback_in_the_clear(self) -> Settings:
        if not self.allow_plain_http and not is_loopback(self.host):
            raise ValueError(
                f"host {self.host} is not loopback and this server speaks plain HTTP, which would show tokens to the network: "
                "put a TLS proxy in front and listen on 127.0.0.1 (docs/operate.md), or set allow_plain_http"
            )
        return self

    @property
    def database_url(self) -> str:
        """Where the tables are: the URL that was set, or a SQLite file in the data folder."""
        return self.database or f"sqlite:///{self.data_folder / 'privact.sqlite3'}"

    @property
    def releases_folder(self) -> Path:
        """Where released trees are: `<round id>.hct` each."""
        return self.data_folder / "releases"

    @property
    def ratings_folder(self) -> Path:
        """Where the operator's ratings are."""
        return self.data_folder / "ratings"

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The command line, then the environment, then the file."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)


def read_settings(config: Path | None = None, **given: Any) -> Settings:
    """The settings of this process.

    config: a TOML file with settings by name; without it only the environment is read.
    given: settings that win over both, as from the command line; None stands for "not given".
    """
    for name in os.environ:
        short = name.removeprefix(_PREFIX)
        if name.startswith(_PREFIX) and short not in _OF_OTHERS and short.lower() not in Settings.model_fields:
            raise InputError(f"environment variable {name} is no setting{_meant(short.lower(), upper=True)}")

    class FromFile(Settings):
        model_config = SettingsConfigDict(toml_file=_readable(config))

    try:
        return FromFile(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        raise InputError(_one_line(error)) from None
    except ValueError as error:  # a file that is not TOML
        raise InputError(f"{config} is not a TOML file: {' '.join(str(error).split())}") from None


def _readable(config: Path | None) -> Path | None:
    """The file, if it can be read."""
    if config is not None:
        try:
            config.open("rb").close()
        except OSError as error:
            raise InputError(f"cannot read settings from {config}: {(error.strerror or str(error)).lower()}") from None
    return config


def _one_line(error: ValidationError) -> str:
    """The first complaint, with the name of the setting, its value and what it must be; never a secret."""
    first = error.errors(include_url=False)[0]
    name = ".".join(map(str, first["loc"]))
    if not name:
        return str(first["ctx"]["error"])
    if first["type"] == "extra_forbidden":
        return f"{name} is no setting{_meant(name)}"
    value = "" if name == "operator_token" else f" {first['input']!r}"
    message = first["msg"].removeprefix("Input ").removeprefix("Value error, ")
    return f"setting {name}{value}: {message[:1].lower()}{message[1:]}"


def _meant(name: str, upper: bool = False) -> str:
    """What the writer may have meant."""
    close = get_close_matches(name, Settings.model_fields, 1, 0.6)
    if not close:
        return ": see docs/operate.md for all of them"
    return f": did you mean {_PREFIX + close[0].upper() if upper else close[0]}?"
