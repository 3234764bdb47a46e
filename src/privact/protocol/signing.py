"""Ed25519 signatures of an operator, by libsodium: secret key + message -> signature.

PyNaCl is used, not `cryptography`: it wraps one small audited library, and a device has little else to install.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Final

from privact.errors import MissingExtraError, ProtocolError

if TYPE_CHECKING:
    from nacl.signing import SigningKey

__all__ = ["PUBLIC_KEY_SIZE", "SIGNATURE_SIZE", "is_signed", "new_signing_key", "public_key_of", "sign"]

PUBLIC_KEY_SIZE: Final = 32
"""Bytes of a public key."""
SIGNATURE_SIZE: Final = 64
"""Bytes of a signature."""
_SECRET_SIZE: Final = 32


def new_signing_key() -> bytes:
    """A fresh secret key, 32 random bytes; whoever has it can sign rounds."""
    return bytes(_sodium().SigningKey.generate())


def public_key_of(secret: bytes) -> bytes:
    """The public key that belongs to a secret key."""
    return bytes(_secret_key(secret).verify_key)


def sign(secret: bytes, message: bytes) -> bytes:
    """The signature of a message."""
    return bytes(_secret_key(secret).sign(message).signature)


def is_signed(public_key: bytes, message: bytes, signature: bytes) -> bool:
    """Whether the owner of a public key signed a message."""
    sodium = _sodium()
    from nacl.exceptions import BadSignatureError

    try:
        sodium.VerifyKey(public_key).verify(message, signature)
    except (BadSignatureError, ValueError, TypeError):
        return False
    return True


def _secret_key(secret: bytes) -> SigningKey:
    """A secret key as PyNaCl takes it."""
    if len(secret) != _SECRET_SIZE:
        raise ProtocolError(f"a signing key has {len(secret)} bytes; it must have {_SECRET_SIZE}: restore it from a backup")
    key: SigningKey = _sodium().SigningKey(secret)
    return key


def _sodium() -> ModuleType:
    """PyNaCl's module of signatures; only who signs or checks loads it."""
    try:
        import nacl.signing
    except ImportError:
        raise MissingExtraError("PyNaCl", "device", "checking signatures of rounds") from None
    return nacl.signing
