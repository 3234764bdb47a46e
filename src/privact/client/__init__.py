"""requests to an aggregator, for devices and for operators."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from privact.client.connection import ATTEMPTS as ATTEMPTS
    from privact.client.connection import Connection as Connection
    from privact.client.connection import Patience as Patience
    from privact.client.connection import Response as Response
    from privact.client.device_client import DeviceClient as DeviceClient
    from privact.client.device_client import Me as Me
    from privact.client.device_client import Notice as Notice
    from privact.client.joining import accept_invitation as accept_invitation
    from privact.client.operator_client import OperatorClient as OperatorClient
    from privact.client.results import CloseCommunity as CloseCommunity
    from privact.client.results import LikelyContact as LikelyContact
    from privact.client.results import SuitingItem as SuitingItem
    from privact.client.results import find_result_round as find_result_round
    from privact.client.results import read_community as read_community
    from privact.client.results import read_people as read_people
    from privact.client.results import read_recommendations as read_recommendations
else:
    from privact.exports import export_lazily

    __all__, __getattr__, __dir__ = export_lazily(
        __name__,
        {
            "privact.client.connection": ["ATTEMPTS", "Connection", "Patience", "Response"],
            "privact.client.device_client": ["DeviceClient", "Me", "Notice"],
            "privact.client.joining": ["accept_invitation"],
            "privact.client.operator_client": ["OperatorClient"],
            "privact.client.results": [
                "CloseCommunity",
                "LikelyContact",
                "SuitingItem",
                "find_result_round",
                "read_community",
                "read_people",
                "read_recommendations",
            ],
        },
    )
