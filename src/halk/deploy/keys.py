"""The keys of a TOML file, taken one by one: what is wrong has a file and a name."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from typing import Any, NoReturn

from halk.data.findings import suggest
from halk.errors import HalkError

NEEDED: Any = object()
"""The default of a key that must be there."""


class ConfigError(HalkError, ValueError):
    """A configuration cannot be used; the message names the file and the key."""


class Keys:
    """One table of a file. Every key that is known is taken; the rest is refused."""

    def __init__(self, found: dict[str, Any], file: Path, name: str = "") -> None:
        self.file, self.name, self.found = file, name, found
        self._known: list[str] = []

    @classmethod
    def of(cls, path: str | Path) -> Keys:
        """Read a file."""
        path = Path(path)
        try:
            return cls(tomllib.loads(path.read_text("utf-8")), path)
        except OSError as error:
            reason = error.strerror
            raise ConfigError(f"{path} must be readable: {reason}") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ConfigError(f"{path} must be a TOML file, got: {error}") from None

    def __contains__(self, key: str) -> bool:
        return key in self.found

    def label(self, key: str) -> str:
        """Return how messages call a key."""
        return f"{self.name}.{key}" if self.name else key

    def refuse(self, key: str, wrong: str) -> NoReturn:
        """Raise what is wrong with a key: ``must be positive, got -1``."""
        raise ConfigError(f"{self.file}: {self.label(key)} {wrong}")

    def must(self, holds: bool, key: str, rule: str, got: Any) -> None:
        """Refuse the value of a key unless a rule holds."""
        if not holds:
            self.refuse(key, f"must {rule}, got {got!r}")

    @contextmanager
    def checking(self, key: str = "") -> Iterator[None]:
        """Give errors of arguments the file and the table, or the key."""
        try:
            yield
        except ConfigError:
            raise
        except (TypeError, ValueError) as error:
            place = f"{self.label(key)}: " if key else ""
            raise ConfigError(f"{self.file}: {place}{error}") from None

    def take(self, key: str, default: Any = NEEDED, such: str = "") -> Any:
        """Return the value of a key, of any type."""
        if key not in self._known:
            self._known.append(key)
        if key in self.found:
            return self.found[key]
        if default is NEEDED:
            others = [name for name in self.found if name not in self._known]
            near = suggest(key, others).replace("did you mean", "perhaps it is")
            example = f"; such as {such}" if such else ""
            self.refuse(key, f"is missing{near}{example}")
        return default

    def text(self, key: str, default: Any = NEEDED, such: str = "") -> Any:
        """Return text."""
        value = self.take(key, default, such)
        if value is not default:
            self.must(isinstance(value, str), key, "be text", value)
        return value

    def flag(self, key: str, default: bool) -> bool:
        """Return true or false."""
        value = self.take(key, default)
        self.must(isinstance(value, bool), key, "be true or false", value)
        return bool(value)

    def number(self, key: str, default: Any = NEEDED, low: float = 0.0) -> Any:
        """Return a finite number above ``low``."""
        value = self.take(key, default)
        if value is default:
            return value
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        self.must(is_number, key, "be a number", value)
        rule = "be positive" if low == 0 else f"be above {low:g}"
        self.must(isfinite(value) and value > low, key, rule, value)
        return float(value)

    def whole(self, key: str, default: Any = NEEDED) -> Any:
        """Return a whole number above zero."""
        value = self.take(key, default)
        if value is not default:
            is_whole = isinstance(value, int) and not isinstance(value, bool)
            self.must(is_whole and value > 0, key, "be a whole number above 0", value)
        return value

    def choice(self, key: str, options: Sequence[str], default: Any = NEEDED) -> Any:
        """Return one of some words."""
        value = self.text(key, default, such=f'{key} = "{options[0]}"')
        listed = ", ".join(map(repr, options))
        hint = suggest(value, options) if isinstance(value, str) else ""
        if value not in options:
            self.refuse(key, f"must be one of {listed}, got {value!r}{hint}")
        return value

    def texts(self, key: str, default: Any = NEEDED, such: str = "") -> Any:
        """Return one or more texts, as a tuple."""
        value = self.take(key, default, such)
        if value is default:
            return value
        value = [value] if isinstance(value, str) else value
        is_list = isinstance(value, list) and all(isinstance(v, str) for v in value)
        self.must(is_list and len(value) > 0, key, "be a list of texts", value)
        return tuple(value)

    def path(self, key: str, default: Any = NEEDED, such: str = "") -> Any:
        """Return a path; one that is not absolute is beside the file."""
        value = self.text(key, default, such)
        if value is default:
            return value
        self.must(bool(value), key, "be a path", value)
        return self.file.parent / value

    def table(self, key: str, default: Any = NEEDED, such: str = "") -> Keys:
        """Return a table of keys; an empty one if it may be left out and is."""
        value = self.take(key, default, such)
        value = {} if value is default else value
        self.must(isinstance(value, dict), key, f"be a table, [{key}]", value)
        return Keys(value, self.file, self.label(key))

    def tables(self, key: str) -> list[Keys]:
        """Return the tables of ``[[key]]``; none if there are none."""
        value = self.take(key, [])
        is_list = isinstance(value, list) and all(isinstance(v, dict) for v in value)
        self.must(is_list, key, f"be tables, each under [[{key}]]", value)
        names = (f"{self.label(key)}[{k}]" for k in range(1, len(value) + 1))
        return [Keys(v, self.file, n) for v, n in zip(value, names, strict=True)]

    def end(self) -> None:
        """Refuse what is left."""
        for key in self.found:
            if key not in self._known:
                place = f"[{self.name}]" if self.name else "the file"
                listed = ", ".join(self._known)
                raise ConfigError(
                    f"{self.file}: there is no key {self.label(key)!r}"
                    f"{suggest(key, self._known)}; keys of {place} are {listed}"
                )
