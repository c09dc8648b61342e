"""Agents as processes: configuration, readings, checkpoints, health, whole networks.

``halk agent`` runs one agent, ``halk up`` a network of them on one machine, ``halk
simulate`` the same network in one process. ``docs/deploy.md`` is how to use them.
"""

from halk.deploy.config import read_config
from halk.deploy.keys import ConfigError
from halk.deploy.process import Stop, run_agent
from halk.deploy.settings import AgentConfig

__all__ = ["AgentConfig", "ConfigError", "Stop", "read_config", "run_agent"]
