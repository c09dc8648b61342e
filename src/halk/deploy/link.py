"""From a configuration to a transport over Zenoh, and what can be said before that."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from halk.deploy.keys import ConfigError
from halk.deploy.logs import Log
from halk.deploy.settings import AgentConfig
from halk.net import Reason
from halk.net.zenoh import Identity, ZenohTransport
from halk.net.zenoh.credentials import check_identity
from halk.net.zenoh.overheard import overhearing
from halk.net.zenoh.topic import checked_topic


def check_link(config: AgentConfig) -> None:
    """Refuse certificates and topics that will not do; needs no network.

    Raises
    ------
    ConfigError
        For a topic that cannot be one.
    TransportError
        For certificates that are not the agent's, not valid, or not to be read.
    """
    identity = _identity(config)
    if identity is not None:
        check_identity(config.name, identity)
    if config.readings.key:
        with _of(config):
            checked_topic(config.readings.key, config.network)


def connect_zenoh(config: AgentConfig) -> Any:
    """Return the transport of an agent."""
    ends = {one.name: one.endpoints for one in config.neighbours}
    source = config.readings
    topics = {source.key: source.senders} if source.key else {}
    with _of(config):
        return ZenohTransport(
            config.name, config.listen, ends, _identity(config), network=config.network,
            allow_plain=config.security.plain, topics=topics,
        )  # fmt: skip


@contextmanager
def watched_port(config: AgentConfig, transport: Any, log: Log) -> Iterator[None]:
    """Count handshakes that fail at the port; takes the process's standard output."""
    if _identity(config) is None or not config.listen:
        yield
        return
    with overhearing(partial(transport.turn_away, Reason.HANDSHAKE)) as can_hear:
        if not can_hear:
            why = "Zenoh's log cannot be read: is RUST_LOG set, or stdout closed?"
            log.say("warning", "failed handshakes are not counted", why=why)
        yield


def _identity(config: AgentConfig) -> Identity | None:
    files = config.security
    if files.certificate and files.key and files.authority:
        return Identity(files.certificate, files.key, files.authority)
    return None


@contextmanager
def _of(config: AgentConfig) -> Iterator[None]:
    """Give errors of arguments the name of the file."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{config.file}: {error}") from None
