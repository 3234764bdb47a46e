"""What a device and an aggregator agree on: user id + round -> bin; noisy counts <-> report bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from privact.protocol.addresses import Address as Address
    from privact.protocol.addresses import aggregator_address as aggregator_address
    from privact.protocol.addresses import is_loopback as is_loopback
    from privact.protocol.bins import assign_bins as assign_bins
    from privact.protocol.bins import assign_round_bins as assign_round_bins
    from privact.protocol.bins import bin_of as bin_of
    from privact.protocol.invitation_links import Invitation as Invitation
    from privact.protocol.invitation_links import invitation_link as invitation_link
    from privact.protocol.invitation_links import is_invitation_code as is_invitation_code
    from privact.protocol.invitation_links import new_invitation_code as new_invitation_code
    from privact.protocol.invitation_links import new_token_for as new_token_for
    from privact.protocol.invitation_links import read_invitation as read_invitation
    from privact.protocol.label_files import format_labels as format_labels
    from privact.protocol.label_files import number_labels as number_labels
    from privact.protocol.label_files import parse_labels as parse_labels
    from privact.protocol.labels import NO_LABEL as NO_LABEL
    from privact.protocol.labels import LabelTable as LabelTable
    from privact.protocol.promise import MIN_EPSILON as MIN_EPSILON
    from privact.protocol.promise import check_epsilon as check_epsilon
    from privact.protocol.promise import epsilon_per_report as epsilon_per_report
    from privact.protocol.promise import meaning_sentence as meaning_sentence
    from privact.protocol.promise import privacy_sentence as privacy_sentence
    from privact.protocol.report import ENTRY_MAX as ENTRY_MAX
    from privact.protocol.report import ENTRY_MIN as ENTRY_MIN
    from privact.protocol.report import Report as Report
    from privact.protocol.report import ReportLayout as ReportLayout
    from privact.protocol.report import read_vectors as read_vectors
    from privact.protocol.report import report_length as report_length
    from privact.protocol.round import DIGEST_SIZE as DIGEST_SIZE
    from privact.protocol.round import LAST_SECOND as LAST_SECOND
    from privact.protocol.round import MAX_BINS as MAX_BINS
    from privact.protocol.round import MAX_USERS as MAX_USERS
    from privact.protocol.round import Round as Round
    from privact.protocol.round import check_bins as check_bins
    from privact.protocol.round import check_seed as check_seed
    from privact.protocol.round import default_bins as default_bins
    from privact.protocol.round_ids import ROUND_ID as ROUND_ID
    from privact.protocol.round_ids import is_round_id as is_round_id
    from privact.protocol.round_log import LONGEST_LOG as LONGEST_LOG
    from privact.protocol.round_log import MAX_LOG_ENTRIES as MAX_LOG_ENTRIES
    from privact.protocol.round_log import LogEntry as LogEntry
    from privact.protocol.round_log import RoundLog as RoundLog
    from privact.protocol.round_series import MAX_SERIES_ROUNDS as MAX_SERIES_ROUNDS
    from privact.protocol.round_series import Series as Series
    from privact.protocol.signing import PUBLIC_KEY_SIZE as PUBLIC_KEY_SIZE
    from privact.protocol.signing import SIGNATURE_SIZE as SIGNATURE_SIZE
    from privact.protocol.signing import is_signed as is_signed
    from privact.protocol.signing import new_signing_key as new_signing_key
    from privact.protocol.signing import public_key_of as public_key_of
    from privact.protocol.signing import sign as sign
    from privact.protocol.users import LONGEST_USER_ID as LONGEST_USER_ID
    from privact.protocol.users import USER_DIGEST_SIZE as USER_DIGEST_SIZE
    from privact.protocol.users import normalise_user_id as normalise_user_id
    from privact.protocol.users import user_digest as user_digest
else:
    from privact.exports import export_lazily

    __all__, __getattr__, __dir__ = export_lazily(
        __name__,
        {
            "privact.protocol.addresses": ["Address", "aggregator_address", "is_loopback"],
            "privact.protocol.bins": ["assign_bins", "assign_round_bins", "bin_of"],
            "privact.protocol.invitation_links": [
                "Invitation",
                "invitation_link",
                "is_invitation_code",
                "new_invitation_code",
                "new_token_for",
                "read_invitation",
            ],
            "privact.protocol.label_files": ["format_labels", "number_labels", "parse_labels"],
            "privact.protocol.labels": ["LabelTable", "NO_LABEL"],
            "privact.protocol.promise": [
                "MIN_EPSILON",
                "check_epsilon",
                "epsilon_per_report",
                "meaning_sentence",
                "privacy_sentence",
            ],
            "privact.protocol.report": ["ENTRY_MAX", "ENTRY_MIN", "Report", "ReportLayout", "read_vectors", "report_length"],
            "privact.protocol.round": [
                "DIGEST_SIZE",
                "LAST_SECOND",
                "MAX_BINS",
                "MAX_USERS",
                "Round",
                "check_bins",
                "check_seed",
                "default_bins",
            ],
            "privact.protocol.round_ids": ["ROUND_ID", "is_round_id"],
            "privact.protocol.round_log": ["LONGEST_LOG", "LogEntry", "MAX_LOG_ENTRIES", "RoundLog"],
            "privact.protocol.round_series": ["MAX_SERIES_ROUNDS", "Series"],
            "privact.protocol.signing": [
                "PUBLIC_KEY_SIZE",
                "SIGNATURE_SIZE",
                "is_signed",
                "new_signing_key",
                "public_key_of",
                "sign",
            ],
            "privact.protocol.users": ["LONGEST_USER_ID", "USER_DIGEST_SIZE", "normalise_user_id", "user_digest"],
        },
    )
