"""The benchmark: the engine against the floor of the machine, and against peers.

``python -m benchmarks`` measures everything in one run; ``docs/benchmarks.md`` says
what each row means. Not part of the installed package.
"""
