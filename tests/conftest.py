"""Runs the longest files first, so that no core is left alone at the end; keeps compiled networks beside the build.

Property tests take the same examples in every run and on every computer; `make fuzz` draws others. No example has a
time limit: on a busy computer one takes a second now and then. A process of tests ends as the command does: a thread
that a test left in OpenCV or OpenVINO can't take the interpreter back while it ends, and C++ then aborts the process
("terminate called without an active exception") though every test has passed.
"""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import Final

import certifi
import hypothesis
import once_a_run
import pytest

from downfield.cli.console.process_end import ProcessEnd

pytest_plugins = ("broker_fixtures",)

LONGEST_FIRST: Final = (
    "test_api_pages_phone",
    "test_twin_plays_playbook_index",
    "test_api_pages_producer",
    "test_disturbances",
    "test_desk_service",
    "test_calibration_field_solver",
    "test_api_pages_program",
    "test_docs_extend",
    "test_calibration_field_strange_prints",
    "test_officiating_plays",
    "test_api_pages_evidence",
    "test_api_pages_panel",
    "test_twin_tracing_tracer",
    "test_api_pages_setup_unknown",
    "test_desk_pages",
    "test_vision_line_ups",
    "test_api_pages_panel_whole_games",
    "test_api_pages_call_banner",
    "test_broadcast_program_stream",
    "test_api_pages_start",
    "test_cli_commands_run",
    "test_api_pages_dispute",
    "test_capture_sources_streams",
    "test_api_hostile",
    "test_api_pages_cards",
    "test_api_pages_panel_phone",
    "test_api_pages_evidence_acting",
    "test_api_pages_splash",
    "test_desk_archive_tracking",
    "test_api_pages_panel_offline",
    "test_desk_event_outcomes",
    "test_api_setup_hostile",
    "test_desk_archive_jobs",
    "test_vision_strip",
    "test_rig_demo_identities",
    "test_desk_replication",
    "test_cli_no_lookups",
    "test_capture_sources_phone",
    "test_api_pages_scorebug",
    "test_api_pages_setup_interruptions",
    "test_models_worker_client",
    "test_twin_sets_dataset",
    "test_desk_broker_tables",
    "test_capture_sources_camera_kinds",
    "test_api_pages_setup",
    "test_store_database_opening",
    "test_api_pages_overlays",
    "test_vision_tracking_tracker",
    "test_walks",
    "test_desk_grants",
    "test_calibration_field_unknown_print",
    "test_broadcast_replay_replay_process",
    "test_capture_recording_keeping",
    "test_rig_tournament_copies",
    "test_vision_pipeline",
    "test_twin_plays_playbook_tackles",
    "test_api_sponsors",
    "test_store_signed_lists",
    "test_api_pages_downloads",
    "test_calibration_online_calibrator",
    "test_officiating_gaps",
    "test_game_records_owner",
    "test_store_sealing_heads",
    "test_desk_pushes",
    "test_twin_plays_playbook_falls",
    "test_rig_rig",
    "test_api_pages_setup_readings",
    "test_api_pages_games",
    "test_vision_strip_reflections",
    "test_vision_tracking_initialization",
    "test_rig_scorekeeper_told",
    "test_cli_console_process_end",
    "test_rig_scorekeeper",
    "test_cli_commands_verify_alterations",
    "test_calibration_field_marks_mirroring",
    "test_api_feed_relay",
    "test_review_rejudging_finished_games",
    "test_officiating_engine_evidence_order",
    "test_cli_commands_track",
    "test_desk_archive",
    "test_vision_hands_intrusion",
)
"""Files of more than a three-hundredth of a whole run's time; the others come after them by name."""

_PROCESS_END: Final = ProcessEnd()
_LIBC: Final = ctypes.CDLL(None)

# A shell that starts the tests in the background has them ignore Ctrl-C, and with them all programs that they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

_ALWAYS: Final = hypothesis.settings(database=None, deadline=None, print_blob=False)
hypothesis.settings.register_profile("fixed", _ALWAYS, derandomize=True, max_examples=25)
hypothesis.settings.register_profile("fuzz", _ALWAYS, derandomize=False, max_examples=1000)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))

# Every process that opens the networks reads them from there, and nothing is left in the user's own folder.
os.environ.setdefault("DOWNFIELD_CACHE", str(Path(__file__).parents[1] / "build" / "cache"))


def pytest_configure(config: pytest.Config) -> None:
    """Make the folder of what is made once in a run; the processes of tests inherit its name."""
    if hasattr(signal, "SIGHUP"):  # what `nohup` ignores the processes of tests would ignore as well
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if not hasattr(config, "workerinput"):
        made = tempfile.TemporaryDirectory(prefix="downfield-tests-")
        os.environ[once_a_run.VARIABLE] = made.name
        config.add_cleanup(made.cleanup)
        _trust_one_authority(Path(made.name) / "authority.pem")


def _trust_one_authority(file: Path) -> None:
    """Have tests and their processes read one certificate: none calls another computer, and all take 17 ms a client."""
    end = "-----END CERTIFICATE-----\n"
    file.write_text(Path(certifi.where()).read_text(encoding="utf-8").partition(end)[0] + end, encoding="utf-8")
    os.environ["SSL_CERT_FILE"] = str(file)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(exitstatus: int) -> None:
    """Note the status with which the process is to end."""
    _PROCESS_END.status = int(exitstatus)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep what is imported and collected, which all stays, out of the looks for garbage: then and later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort tests by their file's length; within a file they stay in order."""
    ranks = {name: rank for rank, name in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: ranks.get(item.path.stem, len(ranks)))


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Let go, after the last test of a file, of what it cached; and give the memory that is free back to the system."""
    if isinstance(item, pytest.Function) and (nextitem is None or nextitem.path != item.path):
        own = (
            value for value in vars(item.module).values() if getattr(value, "__module__", "") == item.module.__name__
        )
        for clear in (*(getattr(value, "cache_clear", None) for value in own), *once_a_run.KEPT):
            if clear is not None:
                clear()
        if hasattr(_LIBC, "malloc_trim"):  # glibc keeps what an array of pictures took, a third of all at last
            _LIBC.malloc_trim(0)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return two workers more than there are cores: many tests wait for pages, servers and processes."""
    return (os.cpu_count() or 1) + 2
