"""What is wrong with a certificate: an error of TLS -> the reason and the way out, in words."""

from __future__ import annotations

import ssl
from typing import Final

__all__ = ["explain_certificate"]

_UNKNOWN: Final = (
    "its certificate comes from an authority that this machine does not know: "
    "set SSL_CERT_FILE to the authority's certificates if you trust it"
)
_ELSEWHERE: Final = "its certificate is for another host: check the address, someone may be in between"
# Codes of OpenSSL's X509_V_ERR_*.
_REASONS: Final = {
    9: "its certificate is not valid yet: check the clock of this machine, or tell the operator",
    10: "its certificate has expired: tell the operator to renew it; if it should be valid, check the clock of this machine",
    18: "its certificate was signed by nobody but itself: ask the operator whether the address is right",
    19: _UNKNOWN,
    20: _UNKNOWN,
    62: _ELSEWHERE,
    64: _ELSEWHERE,
}


def explain_certificate(error: BaseException) -> str | None:
    """The reason why a certificate was refused, or None if a connection failed for something else.

    error: as the HTTP library raised it; what TLS said is among its causes.
    """
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, ssl.SSLCertVerificationError):
            found = _REASONS.get(seen.verify_code)
            return found or f"its certificate is refused ({seen.verify_message}): tell the operator"
        if isinstance(seen, ssl.SSLError):
            said = (seen.reason or "no secure connection").replace("_", " ").lower()
            return f"it does not speak TLS as it should ({said}): check the address and the port"
        seen = seen.__cause__ or seen.__context__
    return None
