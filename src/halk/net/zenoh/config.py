"""The configuration of a Zenoh session: links to the neighbours, and nothing else."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from halk.net.identity import Identity
from halk.net.zenoh.access import access_control

__all__ = ["configuration"]

RETRY = 200
"""Milliseconds between two attempts to reach a neighbour."""

LEASE = 4000
"""Milliseconds of silence after which a link is given up."""

LARGEST = 65535
"""Bytes of the longest message that is put together; the default is a gigabyte."""


def configuration(
    name: str,
    listen: Sequence[str],
    neighbours: Mapping[str, Sequence[str]],
    identity: Identity | None,
    network: str,
    topics: Mapping[str, Iterable[str]],
) -> dict[str, Any]:
    """Return the configuration of an agent's session."""
    connect = [endpoint for ends in neighbours.values() for endpoint in ends]
    config: dict[str, Any] = {
        "mode": "peer",
        "listen": {"endpoints": list(listen), "timeout_ms": 0, "exit_on_failure": True},
        "connect": {
            "endpoints": connect,
            "timeout_ms": -1,
            "exit_on_failure": False,
            "retry": {
                "period_init_ms": RETRY,
                "period_max_ms": RETRY,
                "period_increase_factor": 1,
            },
        },
        # Either would make links of its own and join who are no neighbours.
        "scouting": {
            "delay": 0,
            "multicast": {"enabled": False},
            "gossip": {"enabled": False},
        },
        "open": {"return_conditions": {"connect_scouted": False, "declares": False}},
        "adminspace": {"enabled": False},
        "plugins_loading": {"enabled": False},
        "transport": {
            "unicast": {"max_links": 1},
            "link": {
                "protocols": ["tcp" if identity is None else "tls"],
                "tx": {
                    "lease": LEASE,
                    "queue": {
                        "congestion_control": {"drop": {"wait_before_drop": 0}},
                        "size": {"data": 4},
                    },
                },
                "rx": {"max_message_size": LARGEST},
            },
            "shared_memory": {"enabled": False},
        },
    }
    if identity is not None:
        config["transport"]["link"]["tls"] = _tls(identity)
        config["access_control"] = access_control(network, name, neighbours, topics)
    return config


def _tls(identity: Identity) -> dict[str, Any]:
    certificate, key = str(identity.certificate), str(identity.key)
    return {
        "root_ca_certificate": str(identity.authority),
        "listen_certificate": certificate,
        "listen_private_key": key,
        "connect_certificate": certificate,
        "connect_private_key": key,
        "enable_mtls": True,
        "verify_name_on_connect": True,
        "close_link_on_expiration": True,
    }
