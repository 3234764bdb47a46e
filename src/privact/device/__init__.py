"""contacts + round -> report. The only package that may see an edge."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from privact.device.answer import Outcome as Outcome
    from privact.device.answer import Proposal as Proposal
    from privact.device.answer import make_reports as make_reports
    from privact.device.answer import propose as propose
    from privact.device.answer import send_reports as send_reports
    from privact.device.contacts.read import FORMATS as FORMATS
    from privact.device.contacts.read import Contacts as Contacts
    from privact.device.contacts.read import Line as Line
    from privact.device.contacts.read import contacts_from_text as contacts_from_text
    from privact.device.contacts.read import read_contacts as read_contacts
    from privact.device.degrees import degree_vector as degree_vector
    from privact.device.ledger.home import Account as Account
    from privact.device.ledger.home import Home as Home
    from privact.device.ledger.home import default_home as default_home
    from privact.device.ledger.ledger import Ledger as Ledger
    from privact.device.ledger.rules import Rules as Rules
    from privact.device.ledger.rules import check_round as check_round
    from privact.device.noise import SENSITIVITY as SENSITIVITY
    from privact.device.noise import laplace_measurement as laplace_measurement
    from privact.device.noise import randomize as randomize
    from privact.device.noise import report as report
    from privact.device.upload import Delivery as Delivery
    from privact.device.upload import deliver as deliver
else:
    from privact.exports import export_lazily

    __all__, __getattr__, __dir__ = export_lazily(
        __name__,
        {
            "privact.device.answer": ["Outcome", "Proposal", "make_reports", "propose", "send_reports"],
            "privact.device.contacts.read": ["Contacts", "FORMATS", "Line", "contacts_from_text", "read_contacts"],
            "privact.device.degrees": ["degree_vector"],
            "privact.device.ledger.home": ["Account", "Home", "default_home"],
            "privact.device.ledger.ledger": ["Ledger"],
            "privact.device.ledger.rules": ["Rules", "check_round"],
            "privact.device.noise": ["SENSITIVITY", "laplace_measurement", "randomize", "report"],
            "privact.device.upload": ["Delivery", "deliver"],
        },
    )
