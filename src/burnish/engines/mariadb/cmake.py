"""What MariaDB's cmake is told beyond what the family's is."""

from __future__ import annotations

from burnish.engines.contract import BuildJob
from burnish.engines.mysql_family import build
from burnish.model.recipe import Flags

_APPENDED: dict[str, tuple[str, ...]] = {
    "_fno_omit_frame_pointer": ("-fomit-frame-pointer",),
    "_fstack_protector___param_ssp_buffer_size_4": ("-fno-stack-protector", "-fstack-protector-all"),
    "_D_FORTIFY_SOURCE_2": ("-U_FORTIFY_SOURCE",),
    "_pie__fPIC": ("-fno-pie",),
}
"""What MariaDB's CMakeLists puts behind all other flags, each if a check finds that the compiler takes it: the
check's name, and flags that it would cancel. Debian's own -fstack-protector-strong is cancelled in what Debian
ships too, and stays so."""

_APPENDED_TO_LINK = {"HAVE_LINK_FLAG__Wl__z_relro__z_now": ("-Wl,-z,norelro", "-Wl,-z,lazy")}


def _checks_answered(flags: Flags) -> dict[str, str]:
    """Answers no to the checks whose flags would cancel the recipe's own."""
    answered = {}
    for language, given in (("C", flags.c), ("CXX", flags.cxx)):
        for check, cancelled in _APPENDED.items():
            if set(cancelled) & set(given):
                answered[f"have_{language}_{check}"] = "0"
    for check, cancelled in _APPENDED_TO_LINK.items():
        if set(cancelled) & set(flags.link):
            answered[check] = "0"
    return answered


def configure_command(job: BuildJob) -> list[str]:
    """cmake's command line; the recipe's options win over the feature set's, both over ours."""
    own = {"SECURITY_HARDENED": "ON" if job.hardening else "OFF"}
    return build.configure_command(job, own, _checks_answered(job.flags))
