"""Negation and limits: who contradicts whom, and the many who only seem to."""

import pytest

from service.text.polarity import modality, negations, polarity_conflict


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("密码长度不少于 8 位", "密码长度不超过 8 位"),
        ("系统支持断点续传", "系统不支持断点续传"),
        ("系统不支持断点续传", "系统支持断点续传"),
        ("管理员可以删除日志", "管理员不得删除日志"),
        ("必须启用加密传输", "不必启用加密传输"),
        ("at least 8 characters are needed", "at most 8 characters are needed"),
        ("The service supports resuming uploads.", "The service does not support resuming uploads."),
        ("Users can delete audit logs.", "Users cannot delete audit logs."),
        ("Retries are allowed.", "Retries are not allowed."),
        ("自動重試會執行", "自动重试不会执行"),
    ],
)
def test_opposites(claim: str, passage: str) -> None:
    assert polarity_conflict(claim, passage)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("密码长度不少于 8 位", "密码长度不少于 8 位"),
        ("系统不支持断点续传", "系统不支持断点续传"),
        ("系统支持断点续传", "价格不含税"),
        ("系统支持断点续传吗", "系统不支持断点续传"),
        ("是否支持断点续传", "不支持断点续传"),
        ("Does the service support resuming uploads?", "The service does not support resuming uploads."),
        ("系统支持断点续传", "系统不仅支持断点续传，还支持并发上传"),
        ("密码长度至少 8 位", "密码长度不少于 8 位"),
        ("Users can delete drafts.", "Users can delete drafts, but cannot delete audit logs."),
        ("", "不支持"),
        ("系统支持断点续传", ""),
    ],
)
def test_no_opposites(claim: str, passage: str) -> None:
    assert not polarity_conflict(claim, passage)


@pytest.mark.parametrize("text", ["不同版本", "不仅如此", "是不是这样", "not only fast", "不断更新"])
def test_words_that_only_look_negative(text: str) -> None:
    assert negations(text) == []


@pytest.mark.parametrize(
    ("text", "negator"),
    [("系统不支持断点续传", "不"), ("無法連線", "無法"), ("It does not retry.", "not"), ("禁止外传", "禁止")],
)
def test_negators_are_found_where_they_stand(text: str, negator: str) -> None:
    [found] = negations(text)
    assert text[found.start : found.end] == found.text
    assert negator in found.text


def test_lower_and_upper_limits_are_different_modalities() -> None:
    floor, ceiling = modality("不少于 8 位"), modality("不超过 8 位")
    assert floor and ceiling and not floor & ceiling
    assert floor == modality("at least 8") == modality("至少 8 位")
    assert ceiling == modality("at most 8") == modality("最多 8 位")
