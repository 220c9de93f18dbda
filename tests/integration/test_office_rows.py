"""Whole path of Office files: a row of a Word or Excel table is found by its row's and its column's head, and the
quoted span is the row as it stands."""

from __future__ import annotations

from pathlib import Path

import docx
import openpyxl
import pytest

from service.access.policy import principal_of
from service.bootstrap import Services
from service.domain.answers import Question
from service.profiles.corpus import CorpusProfile

WHO = principal_of(tenant="demo", subject="reader", groups=[], labels=[], roles=["reader"])
PROFILE = CorpusProfile(name="office", tenant="demo", default_access={"allow": ["*"]})
ZH = "海棠 木槿 紫藤 石榴 银杏 梧桐 玉兰 桂花 腊梅 丁香 合欢 樱花 杜鹃 牡丹".split()
EN = "Amber Birch Cedar Dogwood Elder Fir Ginkgo Hazel Ironwood Juniper Larch Maple".split()


def word(folder: Path) -> None:
    made = docx.Document()
    made.add_heading("泵房手册", 1)
    made.add_paragraph("各泵由当班人员照管，钥匙统一登记。")
    made.add_paragraph("表 1 泵一览")
    rows = [
        ("泵名", "扬程（米）", "检查周期"),
        *((f"{name}泵", str(at + 31), f"每{at + 2}天") for at, name in enumerate(ZH)),
    ]
    table = made.add_table(len(rows), 3)
    for at, row in enumerate(rows):
        for column, text in enumerate(row):
            table.cell(at, column).text = text
    made.add_heading("其他", 1)
    made.add_paragraph("泵房每日清扫。")
    made.save(str(folder / "pumps.docx"))


def excel(folder: Path) -> None:
    made = openpyxl.Workbook()
    sheet = made.active
    sheet.title = "Rates"
    sheet.append(["Discount rates of 2024"])
    sheet.append(["Plan", "Monthly discount", "Review interval"])
    for at, name in enumerate(EN):
        sheet.append([f"{name} plan", (at + 3) / 100, f"every {at + 2} weeks"])
        sheet.cell(at + 3, 2).number_format = "0%"
    made.save(str(folder / "rates.xlsx"))


@pytest.fixture
def published(services: Services, tmp_path: Path) -> Services:
    folder = tmp_path / "files"
    folder.mkdir()
    word(folder)
    excel(folder)
    services.offline.ingest("office", [folder], PROFILE, None, lambda *_: None)
    manifest = services.offline.build("office", lambda *_: None)
    services.offline.publish("office", manifest.generation)
    return services


@pytest.mark.parametrize(
    ("question", "row"),
    [
        ("紫藤泵 扬程", "紫藤泵 | 33 | 每4天"),
        ("牡丹泵的检查周期", "牡丹泵 | 44 | 每15天"),
        ("monthly discount of the Hazel plan", "Hazel plan | 10% | every 9 weeks"),
        ("Maple plan review interval", "Maple plan | 14% | every 13 weeks"),
    ],
)
def test_a_row_is_quoted_as_it_stands(published: Services, question: str, row: str) -> None:
    answer = published.online.answer(Question("q", question, "office"), WHO)
    cited = [c for claim in answer.claims for c in claim.citations]
    assert row in [citation.quote for citation in cited], answer
