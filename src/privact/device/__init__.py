"""contacts + round -> report. The only package that may see an edge."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from privact.device.answer import Outcome as Outcome
    from privact.device.answer import Proposal as Proposal
    from privact.device.answer import draw_slots as draw_slots
    from privact.device.answer import make_reports as make_reports
    from privact.device.answer import propose as propose
    from privact.device.answer import send_reports as send_reports
    from privact.device.contacts.contact_formats import SOURCES as SOURCES
    from privact.device.contacts.contact_list import Contacts as Contacts
    from privact.device.contacts.contact_list import contacts_from_text as contacts_from_text
    from privact.device.contacts.contact_list import read_contacts as read_contacts
    from privact.device.contacts.source import Asked as Asked
    from privact.device.contacts.source import Source as Source
    from privact.device.contacts.source import Unread as Unread
    from privact.device.degrees import degree_vector as degree_vector
    from privact.device.ledger.home import Account as Account
    from privact.device.ledger.home import Home as Home
    from privact.device.ledger.home import default_home as default_home
    from privact.device.ledger.kept_log import KeptLog as KeptLog
    from privact.device.ledger.kept_log import LogHead as LogHead
    from privact.device.ledger.kept_token import forget_token as forget_token
    from privact.device.ledger.kept_token import keep_token as keep_token
    from privact.device.ledger.ledger import Ledger as Ledger
    from privact.device.ledger.rules import Rules as Rules
    from privact.device.ledger.rules import check_round as check_round
    from privact.device.log_checks import VerifiedLog as VerifiedLog
    from privact.device.log_checks import verify_log as verify_log
    from privact.device.noise import SENSITIVITY as SENSITIVITY
    from privact.device.noise import laplace_measurement as laplace_measurement
    from privact.device.noise import make_report as make_report
    from privact.device.noise import randomize as randomize
    from privact.device.upload import Delivery as Delivery
    from privact.device.upload import deliver as deliver
    from privact.device.watch import Look as Look
    from privact.device.watch import answer_agreed as answer_agreed
else:
    from privact.exports import export_lazily

    __all__, __getattr__, __dir__ = export_lazily(
        __name__,
        {
            "privact.device.answer": ["Outcome", "Proposal", "draw_slots", "make_reports", "propose", "send_reports"],
            "privact.device.contacts.contact_formats": ["SOURCES"],
            "privact.device.contacts.contact_list": ["Contacts", "contacts_from_text", "read_contacts"],
            "privact.device.contacts.source": ["Asked", "Source", "Unread"],
            "privact.device.degrees": ["degree_vector"],
            "privact.device.ledger.home": ["Account", "Home", "default_home"],
            "privact.device.ledger.kept_log": ["KeptLog", "LogHead"],
            "privact.device.ledger.kept_token": ["forget_token", "keep_token"],
            "privact.device.ledger.ledger": ["Ledger"],
            "privact.device.ledger.rules": ["Rules", "check_round"],
            "privact.device.log_checks": ["VerifiedLog", "verify_log"],
            "privact.device.noise": ["SENSITIVITY", "laplace_measurement", "make_report", "randomize"],
            "privact.device.upload": ["Delivery", "deliver"],
            "privact.device.watch": ["Look", "answer_agreed"],
        },
    )
