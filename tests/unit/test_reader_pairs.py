"""What the reader learns from: train split only, and no negative that holds the answer."""

import random

import pytest

from dataset_build.model import DataSet, Document, Gold, Question
from reader_train.pairs import chunks, nearness, of_set
from service.evaluation.splits import split_of

TEXT = "The bridge was opened in 1907. It carries two lanes. " + "Its towers are of granite. " * 30
LEARNT = next(name for name in map(str, range(100)) if split_of(name) == "train")
REPORTED = next(name for name in map(str, range(100)) if split_of(name) == "report")


def made(about: str, *questions: Question) -> DataSet:
    return DataSet("made", 1, (Document(about, TEXT),), questions)


def question(about: str, *gold: Gold) -> Question:
    return Question("q", "When was the bridge opened?", about, gold)


def pairs(own: DataSet, *, with_negatives: bool = True) -> list:
    return list(of_set(own, {}, random.Random(0), with_negatives=with_negatives))


def test_the_answer_is_a_span_of_its_chunk_and_a_chunk_without_it_is_a_negative():
    at = TEXT.index("1907")
    right, *wrong = pairs(made(LEARNT, question(LEARNT, Gold(LEARNT, at, at + 4))))
    assert right.answer is not None and right.answer.of(right.passage) == "1907"
    assert wrong and all(one.answer is None and "1907" not in one.passage for one in wrong)


def test_a_question_without_an_answer_is_paired_with_the_nearest_chunks_of_its_paragraph():
    first, *_ = found = pairs(made(LEARNT, question(LEARNT)))
    assert [one.answer for one in found] == [None] * len(found)
    assert first.passage.startswith("The bridge")


@pytest.mark.parametrize("gold", [(), (Gold(REPORTED, 25, 29),)])
def test_nothing_is_learnt_of_another_split(gold):
    assert pairs(made(REPORTED, question(REPORTED, *gold))) == []


def test_across_languages_there_are_no_negatives():
    at = TEXT.index("1907")
    found = pairs(made(LEARNT, question(LEARNT, Gold(LEARNT, at, at + 4))), with_negatives=False)
    assert [one.answer is not None for one in found] == [True]


def test_chunks_are_cut_as_a_build_cuts_them():
    cut = chunks(TEXT)
    assert len(cut) > 1 and all(TEXT[start : start + len(text)] == text for start, text in cut)


def test_nearness_is_the_share_of_terms_held():
    assert nearness("bridge granite", "the granite bridge") == 1
    assert nearness("bridge", "a tower") == nearness("", "a tower") == 0
