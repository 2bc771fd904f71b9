"""Sessions in Chinese, Japanese and Arabic: what the user forbids, what the agent found, and names in code are in the summary, too."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from tests.unit.context.logs import says
from tests.unit.context.work import asked, edited, ran, work
from ullage.context.blocks import Text
from ullage.context.entries import AssistantReply, Entry, Logged, TurnEnded
from ullage.context.policy import SummaryOptions
from ullage.context.summary.facts import facts
from ullage.context.summary.whole_summary import whole_summary
from ullage.context.summary.words import words_in


@dataclass(frozen=True)
class Session:
    """What is said in it. `wish` and `found` are one sentence each, in a longer text."""

    prompt: str
    wish: str
    named: str
    found: str
    decided: str
    step: str
    closing: str


SESSIONS = {
    "chinese": Session(
        prompt="请修复油罐的液位显示。不要修改配置文件。完成后告诉我。",
        wish="不要修改配置文件。",
        named="请看一下readLevel函数和src/gauge.py文件，还有tank_level。",
        found="液位每次都多算了一个滤波周期。",
        decided="我决定改用原始值，因为滤波器太慢。",
        step="让我看一下报告模块。",
        closing="显示已经修好。\n\n测试还没有运行。需要我现在运行吗？",
    ),
    "japanese": Session(
        prompt="タンクの表示を直してください。設定ファイルは変更しないでください。終わったら教えてください。",
        wish="設定ファイルは変更しないでください。",
        named="readLevel関数とsrc/gauge.pyを見てください。tank_levelもです。",
        found="液面がフィルターのせいで二回計算されています。",
        decided="フィルターが遅いため、生の値を採用します。",
        step="次にレポートを読みます。",
        closing="表示は直りました。\n\nテストはまだです。実行しますか？",
    ),
    "arabic": Session(
        prompt="أصلح عرض مستوى الخزان. يجب ألا تغيّر ملف الإعدادات. أخبرني عندما تنتهي.",
        wish="يجب ألا تغيّر ملف الإعدادات.",
        named="انظر إلى الدالة readLevel وإلى src/gauge.py وtank_level.",
        found="المستوى يُحسب مرتين في كل دورة.",
        decided="قررت استخدام القيمة الخام لأن المرشح بطيء.",
        step="سأقرأ التقرير الآن.",
        closing="تم إصلاح العرض.\n\nلم تُشغّل الاختبارات بعد. هل أشغّلها الآن؟",
    ),
}


def working(text: str, number: int) -> list[Entry]:
    call, returned = ran(f"cat src/part_{number}.py")
    assert isinstance(call, AssistantReply)
    return [replace(call, blocks=(Text(text), *call.blocks)), returned]


def log_of(told: Session) -> list[Logged]:
    return list(
        work(
            asked(told.prompt),
            asked(told.named),
            working(f"{told.found} {told.step}", 0),
            working(told.decided, 1),
            edited("src/gauge.py", "", "def readLevel(tank_level):\n    return tank_level\n"),
            *(working(told.step, number) for number in range(2, 14)),
            says(told.closing),
            TurnEnded("end_turn"),
        )
    )


@pytest.mark.parametrize("language", SESSIONS)
def test_what_the_user_forbids_is_found(language: str):
    told = SESSIONS[language]
    assert [said.text for said in facts(log_of(told)).constraints] == [told.wish]


@pytest.mark.parametrize("language", SESSIONS)
def test_the_summary_holds_what_was_wanted_found_decided_and_is_waited_for(language: str):
    told = SESSIONS[language]
    text = whole_summary(log_of(told), None, "", SummaryOptions())
    for needed in (told.wish, told.found, told.decided, *filter(None, told.closing.splitlines()), "readLevel", "src/\n- gauge.py"):
        assert needed in text
    assert text.count(told.step) < 4


@pytest.mark.parametrize("language", SESSIONS)
def test_the_question_at_the_end_is_what_is_next(language: str):
    told = SESSIONS[language]
    assert f"- The agent waits for an answer to: {told.closing.splitlines()[-1]}" in whole_summary(log_of(told), None, "", SummaryOptions())


@pytest.mark.parametrize("language", SESSIONS)
def test_names_and_paths_that_touch_words_of_the_language_are_found(language: str):
    found = words_in(SESSIONS[language].named)
    assert found.names == {"readLevel", "tank_level"}
    assert found.paths == {"src/gauge.py"}


def test_a_file_with_a_name_of_its_own_script_stays_whole():
    assert words_in("见 文档/说明.md 和 src/设计.py").paths == {"文档/说明.md", "src/设计.py"}
