"""Agents that talk over a network: messages, nodes, transports, faults."""
