"""Detached signatures with a user's own SSH key, by ssh-keygen: nothing but OpenSSH is needed to make or check one."""

from __future__ import annotations

from pathlib import Path

from burnish.base import process
from burnish.base.errors import InfrastructureError, UserError
from burnish.base.files import make_folder, remove_tree

NAMESPACE = "burnish-package"
"""What the signature is for: one that was made for anything else does not fit."""

SUFFIX = ".sig"

_SECONDS = 120.0


def sign(files: list[Path], key: Path) -> list[Path]:
    """Signs each file with a private SSH key, without a passphrase or in an agent; returns the signatures.

    Raises:
        UserError: ssh-keygen does not take it.
    """
    signatures = []
    for file in files:
        signature = file.with_name(file.name + SUFFIX)
        remove_tree(signature)
        words: list[str | Path] = ["ssh-keygen", "-Y", "sign", "-q", "-f", key, "-n", NAMESPACE, file.absolute()]
        done = process.run(words, timeout=_SECONDS)
        if not done.ok or not signature.is_file():
            raise UserError(
                f"--sign-key {key}: ssh-keygen does not sign with it: {_last(done)} (a passphrase needs ssh-add)"
            )
        signatures.append(signature)
    return signatures


def ready(key: Path, scratch: Path) -> None:
    """Raises a `UserError` if nothing can be signed with a key: known before a package is made, which takes minutes."""
    if not key.is_file():
        raise UserError(f"--sign-key {key}: there is no such file; name a private SSH key (ssh-keygen -t ed25519)")
    probe = make_folder(scratch) / "probe"
    probe.write_text("")
    try:
        sign([probe], key)
    finally:
        remove_tree(probe)
        remove_tree(probe.with_name(probe.name + SUFFIX))


def check(file: Path, key: Path | None, scratch: Path) -> str:
    """Checks the signature beside a file; returns what was found, in a line.

    Args:
        file: the signed file.
        key: the signer's public key; None: only whether some key signed exactly this file.
        scratch: folder for ssh-keygen's list of signers.

    Raises:
        UserError: the signature is not the key's, or the file was changed since.
    """
    if key is not None and not key.is_file():
        raise UserError(f"--key {key}: there is no such file; name the signer's public key (.pub)")
    signature = file.with_name(file.name + SUFFIX)
    if not signature.is_file():
        if key is not None:
            raise UserError(f"{file}: no signature beside it ({signature.name}), and --key asks for one")
        return "no signature"
    words: list[str | Path] = ["ssh-keygen", "-Y"]
    if key is None:
        words += ["check-novalidate", "-n", NAMESPACE, "-s", signature]
    else:
        signers = scratch / "signers"
        kind, _, rest = _public(key).partition(" ")
        signers.write_text(f"signer {kind} {rest.split(' ')[0]}\n")
        words += ["verify", "-f", signers, "-I", "signer", "-n", NAMESPACE, "-s", signature]
    done = process.run(words, stdin_file=file, timeout=_SECONDS)
    if not done.ok:
        raise UserError(f"{signature}: not a valid signature of {file.name}: {_last(done)}")
    return "signed by that key" if key else "signed, by a key that was not given (--key)"


def _public(key: Path) -> str:
    """The text of a public key."""
    try:
        return key.read_text().strip()
    except UnicodeDecodeError:
        raise UserError(f"--key {key}: is no text; name the signer's public SSH key (.pub)") from None


def _last(done: process.Completed) -> str:
    lines = [line for line in done.output.splitlines() if line.strip()]
    if not lines and done.timed_out:
        raise InfrastructureError("ssh-keygen did not end")
    return lines[-1][:200] if lines else f"exit code {done.exit_code}"
