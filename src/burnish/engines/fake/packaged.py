"""The fake server as a packaged one: what it can do are the features that it tells with its version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from burnish.base.workbench import Workbench
from burnish.engines.packaged import Account, PackagedServer, PluginTrial
from burnish.program.built import Built


class PackagedFake(PackagedServer):
    """A "plugin" is a text file that names a feature, and loads into a server that has it switched on."""

    def account(self, built: Built, settings: Path | None, place: Path, bench: Workbench) -> Account:
        """See `PackagedServer.account`."""
        del settings, place
        return {"setting": {}, "feature": _features(built, bench)}

    def plugins(self, built: Built, files: Sequence[Path], place: Path, bench: Workbench) -> Mapping[str, PluginTrial]:
        """See `PackagedServer.plugins`."""
        del place
        features = _features(built, bench)
        return {
            file.stem: PluginTrial(True, (f"{word}: ACTIVE",))
            if features.get(word) == "ON"
            else PluginTrial(False, (f"needs {word}",))
            for file in files
            for word in [file.read_text().strip()]
        }

    def settings_text(self, values: Mapping[str, str]) -> str:
        """See `PackagedServer.settings_text`."""
        return "".join(f"{name}={value}\n" for name, value in values.items())


def _features(built: Built, bench: Workbench) -> dict[str, str]:
    lines: list[str] = []
    bench.run("version", [built.server, "--version"], timeout=60, on_line=lines.append).check("asking for features")
    return {name: value for name, _, value in (line.partition("=") for line in lines[1:]) if value}
