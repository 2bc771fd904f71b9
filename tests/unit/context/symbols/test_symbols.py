"""What a text defines and refers to, for each language that there is a grammar for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.context.symbols.symbols import LANGUAGE_OF_SUFFIX, LONGEST_TEXT, language_of, symbols

SOURCES: dict[str, tuple[str, list[str], list[str], list[str]]] = {
    "tank.py": (
        """\
from pump import Pump, valve as v
LIMIT = 3
@frozen
class Tank(Base):
    async def fill(self, by: Litres):
        go(self.pump())
""",
        ["Tank 4", "fill 5"],
        ["LIMIT 2"],
        ["Pump", "valve", "frozen", "Base", "Litres", "go", "pump"],
    ),
    "tank.js": (
        """\
import { Pump } from './pump';
export const LIMIT = 3;
const fill = (by) => run(by);
class Tank extends Base {
  empty() {}
}
""",
        ["fill 3", "Tank 4", "empty 5"],
        ["LIMIT 2"],
        ["Pump", "run", "Base"],
    ),
    "tank.ts": (
        """\
export interface Tank {
  fill(by: Litres): void;
}
export enum State { Full }
export type Name = string;
export abstract class Pump implements Tank {
  fill(by: Litres) { new Hose(); }
}
namespace N {}
""",
        ["Tank 1", "fill 2", "State 4", "Name 5", "Pump 6", "fill 7", "N 9"],
        [],
        ["Litres", "Tank", "Litres", "Hose"],
    ),
    "tank.tsx": (
        """\
export function Gauge() { return <Needle at={level()} />; }
""",
        ["Gauge 1"],
        [],
        ["Needle", "level"],
    ),
    "tank.go": (
        """\
package tank
const Limit = 3
type Tank struct { pump Pump }
func (t *Tank) Fill(by Litres) { run(t.pump.start()) }
func New() *Tank { return &Tank{} }
""",
        ["Tank 3", "Fill 4", "New 5"],
        ["Limit 2"],
        ["Pump", "Tank", "Litres", "run", "start", "Tank"],
    ),
    "tank.rs": (
        """\
use pump::Pump;
const LIMIT: u8 = 3;
pub struct Tank { level: u8 }
impl Drop for Tank {
    fn drop(&mut self) { run(self.stop()); log!(); }
}
trait Fill { fn fill(&self, by: Litres); }
enum State { Full }
mod inner {}
macro_rules! log { () => {} }
""",
        ["Tank 3", "Tank 4", "drop 5", "Fill 7", "fill 7", "State 8", "inner 9", "log 10"],
        ["LIMIT 2"],
        ["Pump", "Drop", "run", "stop", "log", "Litres"],
    ),
    "Tank.java": (
        """\
class Tank extends Base implements Fill {
  Pump pump;
  Tank() { super(); }
  void fill(Litres by) { pump.start(new Hose()); }
}
interface Fill {}
enum State { FULL }
record Level(int of) {}
""",
        ["Tank 1", "Tank 3", "fill 4", "Fill 6", "State 7", "Level 8"],
        [],
        ["Base", "Fill", "Pump", "Litres", "start", "Hose"],
    ),
    "tank.c": (
        """\
#define LIMIT 3
struct tank { int level; };
typedef struct tank Tank;
enum state { FULL };
void fill(Tank *t, Litres by)
{
  run(by);
}
""",
        ["tank 2", "Tank 3", "state 4", "fill 5"],
        ["LIMIT 1"],
        ["Tank", "Litres", "run"],
    ),
    "tank.cpp": (
        """\
namespace water {
class Tank : public Base {
 public:
  ~Tank();
  void fill(Litres by);
};
void Tank::fill(Litres by) { std::run(by); }
}
using Level = int;
""",
        ["water 1", "Tank 2", "~Tank 4", "fill 5", "fill 7", "Level 9"],
        [],
        ["Base", "Litres", "Tank", "Litres", "std", "run"],
    ),
    "tank.rb": (
        """\
LIMIT = 3
module Water
  class Tank < Base
    def fill(by)
      Pump.start(by)
    end
    def self.make; end
  end
end
""",
        ["Water 2", "Tank 3", "fill 4", "make 7"],
        ["LIMIT 1"],
        ["Base", "Pump", "start"],
    ),
}
"""By path: a text, what it defines, its values, and what it refers to."""


@pytest.mark.parametrize("path", SOURCES)
def test_definitions_values_and_references_of_a_text(path: str):
    text, definitions, values, references = SOURCES[path]
    found = symbols(path, text)
    assert found is not None
    assert [f"{symbol.name} {symbol.line}" for symbol in found.definitions] == definitions
    assert [f"{symbol.name} {symbol.line}" for symbol in found.values] == values
    assert [symbol.name for symbol in found.references] == references


def test_every_language_has_a_source_here():
    assert {language_of(path) for path in SOURCES} == set(LANGUAGE_OF_SUFFIX.values())


@pytest.mark.parametrize("path", ["README.md", "Makefile", "tank", "tank.xyz", ""])
def test_without_a_grammar_nothing_is_said(path: str):
    assert symbols(path, "def tank(): pass") is None


def test_paths_of_windows_and_capital_letters_are_known():
    assert language_of("C:\\src\\TANK.PY") == "python"


def test_a_text_that_is_no_source_is_left_alone():
    assert symbols("packed.js", "x=1;" * LONGEST_TEXT) is None


def test_lines_are_counted_as_read_file_counts_them():
    found = symbols("a.py", "a = '\u2028\x0b'\r\n\r\ndef b(): pass\n")
    assert found is not None
    assert found.definitions[0].line == 3


@given(st.sampled_from(sorted(SOURCES)), st.text(max_size=60), st.integers(0, 200))
def test_a_broken_text_gives_what_can_be_made_out(path: str, stuff: str, at: int):
    text = SOURCES[path][0]
    broken = text[:at] + stuff + text[at + 10 :]
    found = symbols(path, broken)
    assert found is not None
    assert all(1 <= symbol.line <= broken.count("\n") + 1 for symbol in found.definitions)
