"""Who may say what to whom: the access control of a Zenoh session.

Everything is denied that is not listed here, in both directions and by the common name
of the certificate at the other end of a link. To and from the neighbour ``X`` of the
agent ``me`` pass

=================================  =========================  =======================
message                            from X                     to X
=================================  =========================  =======================
put                                ``network/me/X``           ``network/X/me``
declaration of a subscriber        ``network/X/*``            ``network/me/*``
liveliness token                   ``network/X``              ``network/me``
interest in a liveliness token     ``network/me``             ``network/X``
=================================  =========================  =======================

So a neighbour can speak in its own name only, and to this agent only.
"""

from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["access_control", "data_key", "token_key"]

_INTEREST = ["declare_liveliness_subscriber", "liveliness_query"]


def data_key(network: str, receiver: str, sender: str) -> str:
    """Return the key of what one agent sends to another."""
    return f"{network}/{receiver}/{sender}"


def token_key(network: str, name: str) -> str:
    """Return the key of the token that an agent is alive."""
    return f"{network}/{name}"


def access_control(
    network: str,
    me: str,
    neighbours: Iterable[str],
    topics: Mapping[str, Iterable[str]],
) -> dict[str, Any]:
    """Return the section ``access_control`` of a session's configuration.

    ``topics`` are keys under which readings come in, and the names of who may put them.
    """
    rules: list[dict[str, Any]] = []
    policies: list[dict[str, Any]] = []
    subjects: dict[str, dict[str, Any]] = {}

    def allow(name: str, flow: str, messages: list[str], key: str) -> None:
        rule = f"rule {len(rules)}"
        rules.append(
            {
                "id": rule,
                "permission": "allow",
                "flows": [flow],
                "messages": messages,
                "key_exprs": [key],
            }
        )
        subjects[name] = {
            "id": name,
            "cert_common_names": [name],
            "link_protocols": ["tls"],
        }
        policies.append({"rules": [rule], "subjects": [name]})

    for name in neighbours:
        for flow, speaker, hearer in (("ingress", name, me), ("egress", me, name)):
            allow(name, flow, ["put"], data_key(network, hearer, speaker))
            heard = data_key(network, speaker, "*")
            allow(name, flow, ["declare_subscriber"], heard)
            allow(name, flow, ["liveliness_token"], token_key(network, speaker))
            allow(name, flow, _INTEREST, token_key(network, hearer))
    for key, names in topics.items():
        for name in names:
            allow(name, "ingress", ["put"], key)
            allow(name, "egress", ["declare_subscriber"], key)
    return {
        "enabled": True,
        "default_permission": "deny",
        "rules": rules,
        "subjects": list(subjects.values()),
        "policies": policies,
    }
