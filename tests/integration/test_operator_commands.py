"""What operators see at the shell of generations and jobs, and a command that is stopped at the keyboard."""

from __future__ import annotations

import itertools
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from service.adapters.embedded import open_embedded
from service.cli import cli, generations, ingest, main, switching
from service.domain.documents import IndexedChunk
from service.domain.jobs import Job
from service.domain.ports import Engine
from service.errors import Cancelled, InvalidInput, Unavailable
from service.offline.generations import switch
from service.offline.story import quiet
from service.offline.work import Desk, Progress, new_job, request_cancel

CORPUS = "handbook"
PREFIX = "test-shell"


class Shell:
    """`attest` on an embedded engine and a folder of sources of its own."""

    def __init__(self, folder: Path) -> None:
        self.sources = folder / "sources"
        self.sources.mkdir()
        self.engine: Engine = open_embedded(folder / "data", PREFIX)

    def run(self, *arguments: str) -> Result:
        return CliRunner().invoke(cli, list(arguments))

    def out(self, *arguments: str) -> str:
        result = self.run(*arguments)
        assert result.exit_code == 0, (result.output, result.exception)
        return result.stdout

    def json(self, *arguments: str) -> Any:
        return json.loads(self.out(*arguments, "--json"))

    def ingest(self, **texts: str) -> None:
        for name, text in texts.items():
            (self.sources / f"{name}.md").write_text(f"# {name}\n\n{text}\n", encoding="utf-8")
        self.out("ingest", str(self.sources), "--corpus", CORPUS, "--access", '{"allow": ["*"]}')

    def publish(self, **texts: str) -> str:
        """The name of the generation that is live now."""
        self.ingest(**texts)
        self.out("build", CORPUS)
        # A corpus of three sentences may halve: its counts are no fault here.
        return str(self.json("publish", CORPUS, "--force", "a test of another matter")["live"])

    def jobs(self, kind: str) -> list[Job]:
        return [job for job in self.engine.jobs.scan(CORPUS) if job.kind == kind]


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    for name in ("ATTEST_TOKEN", "REDIS_URL", "ATTEST_REDIS_URL", "ATTEST_ROLLBACK_WINDOW_HOURS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ATTEST_ENGINE", "embedded")
    monkeypatch.setenv("ATTEST_PREFIX", PREFIX)
    monkeypatch.setenv("ATTEST_DATA_DIR", str(tmp_path / "data"))
    opened = Shell(tmp_path)
    yield opened
    opened.engine.erase()


def test_jobs_are_listed_shown_and_cancelled(shell: Shell) -> None:
    assert shell.out("jobs").strip() == "no jobs yet"
    shell.publish(kitchen="The kitchen opens at eight.")
    [built], [published] = shell.jobs("build"), shell.jobs("publish")
    lines = shell.out("jobs").splitlines()
    assert [line.split()[:4] for line in lines] == [
        [built.job_id, CORPUS, "build", "done"],
        [published.job_id, CORPUS, "publish", "done"],
    ]
    assert shell.out("jobs", CORPUS).splitlines() == shell.out("jobs", "list", CORPUS).splitlines() == lines
    assert [told["jobId"] for told in shell.json("jobs", "list")] == [built.job_id, published.job_id]
    assert shell.out("jobs", "elsewhere").strip() == "no jobs yet"

    shown = shell.out("jobs", "show", published.job_id)
    assert shown.splitlines()[0] == lines[1]
    assert "gates" in shown and f"  to: {published.result['to']}" in shown
    assert shell.json("jobs", "show", built.job_id)["log"] == list(built.log)
    assert isinstance(shell.run("jobs", "show", "nothing").exception, InvalidInput)

    assert shell.out("jobs", "cancel", built.job_id).strip() == f"build of {CORPUS} is over: done"
    waiting = shell.engine.jobs.write(new_job(CORPUS, "build", "olaf"))
    assert shell.out("jobs", "cancel", waiting.job_id).strip() == f"build of {CORPUS} is over: cancelled"
    mine = new_job(CORPUS, "build", "ann")

    def cancelled_at_work() -> None:
        with Desk(shell.engine.jobs, "ann").working("build", mine, quiet) as held:
            told = shell.out("jobs", "cancel", held.job_id)
            assert told.strip() == f"build of {CORPUS} was asked to stop and will at its next step"
            held.keep({})  # Writing is what hears of it.
            raise AssertionError("it was asked to stop")

    with pytest.raises(Cancelled):
        cancelled_at_work()
    assert "cancelled" in shell.out("jobs", "show", mine.job_id).splitlines()[0]


def test_generations_are_a_table_and_their_history_a_log(shell: Shell) -> None:
    assert shell.out("generations").startswith("no generations yet")
    first = shell.publish(kitchen="The kitchen opens at eight.")
    second = shell.publish(kitchen="The kitchen opens at nine.", garage="The garage is closed.")
    head, *rows = shell.out("generations").splitlines()
    assert head.split()[:7] == ["generation", "state", "age", "documents", "chunks", "size", "alias"]
    assert [row.split()[:2] for row in rows] == [[first, "retained"], [second, "live"]]
    column = head.index("documents")
    assert [row[column:].split()[0] for row in rows] == ["1", "2"]
    assert "@live" in rows[1] and "@live" not in rows[0]
    assert shell.out("generations", "nothing").startswith("no generations yet")

    logged = shell.out("generations", CORPUS, "--log").splitlines()
    steps = [line.split()[1] for line in logged[logged.index(rows[1]) + 1 :]]
    assert steps[:3] == ["building", "validating", "ready"] and "live" in steps
    assert not [line for line in rows if line.startswith(" ")], "history only where it is asked for"
    assert shell.json("generations", CORPUS, "--log")[0]["history"]
    assert "history" not in shell.json("generations", CORPUS)[0]


def test_prune_names_and_drops_only_with_yes_and_past_the_window(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = shell.publish(kitchen="The kitchen opens at eight.")
    second = shell.publish(kitchen="The kitchen opens at nine.")
    everything = ("prune", CORPUS, "--keep", "0")
    assert shell.out(*everything, "--yes").strip() == "nothing to drop", "it was live within a day"
    monkeypatch.setenv("ATTEST_ROLLBACK_WINDOW_HOURS", "0")
    assert shell.out(*everything, "--yes", "--window-hours", "1").strip() == "nothing to drop"
    named = [f"would drop {first}", "nothing was dropped; --yes does it"]
    assert shell.out(*everything).splitlines() == named
    assert shell.out(*everything, "--yes", "--dry-run").splitlines() == named
    assert shell.json(*everything) == {"pruned": [first], "dryRun": True}
    assert shell.out("prune", CORPUS, "--yes").strip() == "nothing to drop", (
        "one is kept unless told otherwise"
    )
    assert set(shell.engine.generations.names(CORPUS)) == {first, second}
    assert shell.out(*everything, "--yes").strip() == f"dropped {first}"
    assert shell.engine.generations.names(CORPUS) == (second,)
    assert shell.jobs("prune")[-1].result == {"pruned": [first], "dryRun": False}


def test_a_rollback_tells_what_was_withdrawn_and_changed_since(shell: Shell) -> None:
    first = shell.publish(kitchen="Opens at eight.", garage="Is closed.", hall="Is open.")
    second = shell.publish(kitchen="Opens at nine.")
    shell.out("access", "delete", CORPUS, "garage.md")
    shell.out("access", "revoke", CORPUS, "hall.md", "--subject", "*")
    live, since = shell.out("rollback", CORPUS).splitlines()
    assert live == f"live: {first} (was {second})"
    assert "1 of its documents were withdrawn" in since and "rights of 1 have changed" in since
    shell.out("publish", CORPUS, "--generation", second, "--force", "a test of another matter")
    told = shell.json("rollback", CORPUS)
    assert (told["live"], told["withdrawn"], told["rightsChanged"]) == (first, 1, 1)


def test_a_rollback_cut_off_after_its_alias_call_tells_the_same_when_it_is_run_again(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = shell.publish(kitchen="Opens at eight.", garage="Is closed.")
    shell.publish(kitchen="Opens at nine.")
    shell.out("access", "delete", CORPUS, "garage.md")
    switch_to = switch.switch_to

    def cut_off(*given: Any) -> Any:
        switch_to(*given)
        raise Unavailable("The connection was lost.")

    with monkeypatch.context() as patched:
        patched.setattr(switch, "switch_to", cut_off)
        assert isinstance(shell.run("rollback", CORPUS).exception, Unavailable)
    told = shell.json("rollback", CORPUS)
    assert (told["live"], told["withdrawn"], told["rightsChanged"]) == (first, 1, 0)


def at_the_keyboard(step_to_stop: str) -> Callable[[], Any]:
    """Progress bars whose person stops the command at a step."""

    @contextmanager
    def bars() -> Iterator[Callable[[str, int, int], None]]:
        def advance(step: str, done: int, total: int) -> None:
            if step == step_to_stop:
                raise KeyboardInterrupt

        yield advance

    return bars


@pytest.mark.parametrize(("command", "step"), [("build", "seal"), ("build", "check"), ("publish", "gates")])
def test_a_command_stopped_at_the_keyboard_ends_in_one_sentence_and_goes_on_when_run_again(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str, step: str
) -> None:
    live = shell.publish(kitchen="The kitchen opens at eight.")
    shell.ingest(garage="The garage is closed.")
    if command == "publish":
        shell.out("build", CORPUS)
    at = switching if command == "publish" else generations
    with monkeypatch.context() as patched:
        patched.setattr(at, "progress_bars", at_the_keyboard(step))
        patched.setattr(sys, "argv", ["attest", command, CORPUS])
        with pytest.raises(SystemExit) as ended:
            main()
    assert ended.value.code == 130
    said = capsys.readouterr().err.strip().splitlines()
    assert len(said) == 1 and f"This {command} was stopped at the keyboard" in said[0]
    stopped = shell.jobs(command)[-1]
    assert (stopped.state, stopped.reason) == ("cancelled", "stopped at the keyboard")
    assert shell.engine.generations.live()[CORPUS] == (live,)
    shell.out(command, CORPUS)
    assert shell.jobs(command)[-1].state == "done"


def test_an_ingest_stopped_at_the_keyboard_tells_what_is_kept_and_goes_on(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("attic", "garage", "kitchen"):
        (shell.sources / f"{name}.md").write_text(f"# {name}\n\nThe {name} is open.\n", encoding="utf-8")
    given = ("ingest", str(shell.sources), "--corpus", CORPUS, "--access", '{"allow": ["*"]}')

    @contextmanager
    def bars() -> Iterator[Callable[[str, int, int], None]]:
        def advance(step: str, done: int, total: int) -> None:
            if done == 3:
                raise KeyboardInterrupt

        yield advance

    with monkeypatch.context() as patched:
        patched.setattr(ingest, "progress_bars", bars)
        patched.setattr(sys, "argv", ["attest", *given])
        with pytest.raises(SystemExit) as ended:
            main()
    assert ended.value.code == 130
    [said] = capsys.readouterr().err.strip().splitlines()
    assert "The first 2 documents are dealt with" in said and "Aborted" not in said
    assert [entry.document_id for entry in shell.engine.registry.scan(CORPUS)] == ["attic.md", "garage.md"]
    assert "1 added, 0 updated" in (told := shell.out(*given)) and "2 unchanged" in told


def test_a_command_without_a_job_stopped_at_the_keyboard_ends_in_one_sentence(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.publish(kitchen="The kitchen opens at eight.")
    monkeypatch.setattr(generations, "progress_bars", at_the_keyboard("chunks"))
    monkeypatch.setattr(sys, "argv", ["attest", "check", CORPUS])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert capsys.readouterr().err.strip() == "attest: CANCELLED: Stopped at the keyboard."


@pytest.mark.parametrize("kind", ["check", "gate"])
def test_a_look_hears_of_a_cancel_while_it_looks(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    shell.publish(kitchen="The kitchen opens at eight.")
    engine = shell.engine
    queued = engine.jobs.write(new_job(CORPUS, kind, "ann"))
    seen: list[int] = []

    def slow(chunks: Iterable[IndexedChunk], total: int, progress: Progress) -> Iterator[IndexedChunk]:
        """A generation whose end nobody would live to see."""
        for number in itertools.count():
            progress("chunks", number, total)
            if number == 0:
                request_cancel(engine.jobs, queued.job_id)
            seen.append(number)
            time.sleep(0.05)
        yield from chunks

    monkeypatch.setattr("service.offline.story.counted", slow)
    result = shell.run("jobs", "run", queued.job_id)
    assert isinstance(result.exception, Cancelled)
    ended = engine.jobs.get(queued.job_id)
    assert ended is not None and ended.state == "cancelled" and seen


def test_a_corpus_may_have_a_window_of_its_own(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    first = shell.publish(kitchen="The kitchen opens at eight.")
    shell.publish(kitchen="The kitchen opens at nine.")
    (shell.sources / "corpus.toml").write_text(f'name = "{CORPUS}"\nrollback_window_hours = 0\n')
    assert shell.json("prune", CORPUS, "--keep", "0")["pruned"] == []
    shell.ingest()
    assert shell.json("prune", CORPUS, "--keep", "0")["pruned"] == [first]
    assert shell.json("prune", CORPUS, "--keep", "0", "--window-hours", "1")["pruned"] == []
    (shell.sources / "corpus.toml").write_text(f'name = "{CORPUS}"\nrollback_window_hours = 48\n')
    monkeypatch.setenv("ATTEST_ROLLBACK_WINDOW_HOURS", "0")
    shell.ingest()
    assert shell.json("prune", CORPUS, "--keep", "0")["pruned"] == []


def test_eval_compares_with_a_generation_a_profile_and_a_corpus(shell: Shell, tmp_path: Path) -> None:
    shell.publish(kitchen="The kitchen opens at eight.")
    shell.ingest(kitchen="The kitchen is nice.")
    ready = shell.json("build", CORPUS)["generation"]
    cases = tmp_path / "cases.jsonl"
    claim = {"claimId": "c", "acceptedDocumentIds": ["kitchen.md"], "requiredTerms": ["eight"]}
    case = {
        "caseId": "opening",
        "query": "When does the kitchen open?",
        "answerability": "answerable",
        "requiredClaims": [claim],
    }
    cases.write_text(json.dumps(case) + "\n", encoding="utf-8")
    given = ("eval", "--corpus", CORPUS, "--cases", str(cases), "--compare")
    told = shell.out(*given, f"generation:{ready}")
    assert "== 1 cases came out worse" in told and "opening (" in told and f"→ {ready}" in told
    assert "sizeMB" in told and "buildSeconds" in told and "p95Ms" in told
    found = shell.json(*given, f"generation:{ready}")
    assert {one["measure"] for one in found["regressed"]} >= {"saysAndCitesIt"}
    for same in ("profile:default", f"corpus:{CORPUS}"):
        assert "== 0 cases came out worse" in shell.out(*given, same)
    for strange in ("nothing", "corpus:elsewhere", f"generation:{ready[:-1]}9", "profile:nothing"):
        assert isinstance(shell.run(*given, strange).exception, InvalidInput)
    assert shell.run(*given, f"corpus:{CORPUS}", "--store", str(tmp_path / "x.json")).exit_code == 2


def test_who_stops_waiting_for_a_lease_leaves_no_job_that_seems_to_run(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = shell.engine.jobs
    with Desk(jobs, "ann").working("build", new_job(CORPUS, "build", "ann"), quiet) as hers:

        def interrupted(_: float) -> None:
            raise KeyboardInterrupt

        mine = new_job(CORPUS, "build", "bob")
        with monkeypatch.context() as patched:
            patched.setattr("time.sleep", interrupted)
            with (
                pytest.raises(Cancelled, match="before it began"),
                Desk(jobs, "bob").working("build", mine, quiet),
            ):
                raise AssertionError("the lease is hers")
        left = jobs.get(mine.job_id)
        assert left is not None and (left.state, left.reason) == ("cancelled", "stopped at the keyboard")
        hers.still_ours()


def test_a_restored_document_is_found_after_the_build_that_restore_names(shell: Shell) -> None:
    shell.publish(garage="The garage closes at ten.", attic="The attic closes at nine.")
    shell.out("access", "delete", CORPUS, "attic.md")
    told = shell.out("access", "restore", CORPUS, "attic.md")
    assert f"attest build {CORPUS} --publish" in told
    assert "attic.md" not in shell.out("search", "attic", "--corpus", CORPUS)
    shell.out("build", CORPUS, "--publish")
    assert "attic.md" in shell.out("search", "attic", "--corpus", CORPUS)
