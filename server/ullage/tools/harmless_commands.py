"""The commands that are known to do no harm whatever of their known options and of the workspace's files they are given.

A list of what is safe: a program, option or value that nobody thought of is not on it, and is then remembered as it stands. Harmless
means: it reads, it runs what the project itself names for being run (its tests, its build), or it does what git can take back. It
does not write where its words say, run what its words name, send anything away, or leave the workspace. What there is to know
about the words of a shell stands in `shell_words.py`.

Options that look harmless and are not, so they are left out: `git diff --output`, `git grep -O`, `sort -o` and `--compress-program`,
`rg --pre`, `tree -o`, `find -exec` and `-fprint`, `go test -exec` and `-o`, `cargo --config`, `pytest -p`, `-c`, `-o`, `--basetemp`,
`--junitxml` and `-W`, `mypy --python-executable`, `eslint -f`; the second file of `uniq`; all of `printf`, `test`, `awk` and `xxd`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Takes: TypeAlias = Literal["nothing", "place", "text", "perhaps"]
"""What follows an option: nothing, a value that may name a file (as a word, or after `=`), one that never does, or nothing or a text
after `=`."""

_ENDS: tuple[tuple[str, Takes], ...] = (("[=]", "perhaps"), ("=", "place"), (":", "text"))


@dataclass(frozen=True, slots=True)
class Harmless:
    """What a command may be given to be harmless."""

    options: Mapping[str, Takes] = field(default_factory=dict[str, Takes])
    """By their name with its dashes. Those of one letter may stand together (`-la`)."""
    any_option: bool = False
    """No option of it does harm, nor does a file's name that becomes one."""
    operands: Literal["none", "places", "one place", "text"] = "places"
    first: re.Pattern[str] | None = None
    """The form of the first operand, where it is not a place as the others."""
    here: bool = False
    """What it does is said by files of the folder that it is run in: not after `cd`."""


def _options(*texts: str) -> dict[str, Takes]:
    """Options from one text: `-q --tb= -k: --color[=]`."""
    options: dict[str, Takes] = {}
    for option in " ".join(texts).split():
        found = [each for each in _ENDS if option.endswith(each[0])]
        if found:
            end, takes = found[0]
            options[option.removesuffix(end)] = takes
        else:
            options[option] = "nothing"
    return options


def _letters(text: str) -> str:
    return " ".join(f"-{letter}" for letter in text)


_ANY_TEXT = re.compile(r"(?s).*")

_READS = Harmless(any_option=True)
_READS_NO_FILE = Harmless(any_option=True, operands="text")
_SEARCHES = Harmless(
    _options(
        _letters("nilLwcvrRhHoEFGPxqsaI"),
        "-A= -B= -C= -m= --include: --exclude: --exclude-dir: --color[=] --recursive --line-number --ignore-case --files-with-matches "
        "--word-regexp --count --invert-match --only-matching --extended-regexp --fixed-strings --perl-regexp --max-count= --context= "
        "--after-context= --before-context= --no-filename --with-filename --quiet --no-messages --text",
    ),
    first=_ANY_TEXT,
)
"""Not `-e` and `-f`, with which the first operand is a file already."""

_PLAIN = """
    basename cat cksum cmp comm cut df diff dirname du expand fold head id ls md5sum nl od paste pwd readlink realpath rev
    sha1sum sha256sum sha512sum stat tac tail uname unexpand wc which whoami
"""

_DIFF = _options(
    _letters("puMCDRabwzs"),
    "-U= -G: -S: --stat[=] --numstat --shortstat --dirstat[=] --summary --name-only --name-status --patch --no-patch --raw --cached "
    "--staged --merge-base --color[=] --no-color --word-diff[=] --color-words --check --minimal --patience --histogram --diff-filter= "
    "--unified= --find-renames[=] --find-copies[=] --no-renames --ignore-all-space --ignore-space-change --ignore-blank-lines "
    "--exit-code --quiet --no-ext-diff --no-textconv --relative[=] --abbrev[=] --full-index --binary --text --function-context "
    "--compact-summary --submodule[=]",
)
_LOG = _DIFF | _options(
    _letters("giEF"),
    "-n= -L: --oneline --graph --all --branches[=] --tags[=] --remotes[=] --decorate[=] --no-decorate --follow --format: --pretty[=] "
    "--max-count= --skip= --since: --until: --after: --before: --author: --committer: --grep: --merges --no-merges --first-parent "
    "--reverse --date: --abbrev-commit --topo-order --date-order --left-right --cherry-pick --count --walk-reflogs --source",
)

_GIT: Mapping[str, Harmless] = {
    "add": Harmless(_options(_letters("AuvnN"), "--all --update --verbose --dry-run --intent-to-add"), here=True),
    "blame": Harmless(_options(_letters("wsflteMC"), "-L: --date: --since: --show-name --show-number"), here=True),
    "branch": Harmless(
        _options(_letters("arv"), "--list --all --remotes --verbose --show-current --merged[=] --no-merged[=] --contains[=] --sort="),
        operands="none",
        here=True,
    ),
    "cat-file": Harmless(_options(_letters("pts")), here=True),
    "commit": Harmless(_options(_letters("aqvs"), "-m: --message: --all --quiet --verbose --signoff"), operands="none", here=True),
    "describe": Harmless(_options("--tags --always --dirty[=] --abbrev= --all --long --match="), here=True),
    "diff": Harmless(_DIFF, here=True),
    "grep": Harmless(_options(_letters("nilwcvEFPhHo"), "-A= -B= -C= --count --cached --untracked"), first=_ANY_TEXT, here=True),
    "log": Harmless(_LOG, here=True),
    "ls-files": Harmless(
        _options(_letters("cdmosktz"), "--others --cached --modified --deleted --exclude-standard --stage --error-unmatch --full-name"),
        here=True,
    ),
    "ls-tree": Harmless(_options(_letters("rtldz"), "--name-only --full-name"), here=True),
    "merge-base": Harmless(_options("-a --all --is-ancestor --fork-point"), here=True),
    "reflog": Harmless(_options("-n= --date:"), operands="none", here=True),
    "remote": Harmless(_options("-v --verbose"), operands="none", here=True),
    "rev-list": Harmless(_LOG, here=True),
    "rev-parse": Harmless(
        _options("--show-toplevel --abbrev-ref --short[=] --verify --git-dir --git-common-dir --is-inside-work-tree --show-prefix"),
        here=True,
    ),
    "shortlog": Harmless(_LOG | _options(_letters("sne"), "--summary --numbered --email"), here=True),
    "show": Harmless(_LOG, here=True),
    "stash list": Harmless(_LOG, operands="none", here=True),
    "stash show": Harmless(_DIFF, here=True),
    "status": Harmless(
        _options(
            _letters("sbvz"),
            "-uno -unormal -uall --short --branch --porcelain[=] --long --ignored[=] --untracked-files[=] --show-stash --no-renames",
        ),
        here=True,
    ),
    "submodule status": Harmless(operands="none", here=True),
    "tag": Harmless(_options("-l -n --list --sort="), operands="none", here=True),
    "worktree list": Harmless(_options("-v --porcelain"), operands="none", here=True),
}

_CARGO = _options(
    _letters("qv"),
    "--quiet --verbose --release --all --workspace --lib --bins --tests --benches --examples --all-targets --all-features "
    "--no-default-features --offline --locked --frozen --no-run --no-fail-fast --keep-going -j= --jobs= -p= --package= --bin= --test= "
    "--example= --bench= --features= --message-format= --color= --no-deps --doc --nocapture --test-threads= --ignored "
    "--include-ignored --exact --show-output --skip=",
)
_GO = _options(
    "-v -race -short -failfast -json -cover -benchmem -a -x -run: -skip: -bench: -list: -count= -timeout= -parallel= -cpu= -tags= "
    "-benchtime= -covermode="
)
_SCRIPT = Harmless(operands="none", here=True)
"""What a project's script does with an operand or an option nobody knows (`npm run clean src`)."""
_NPM_SCRIPT = Harmless(_options("-s --silent"), operands="none", here=True)

_PYTHON_TOOLS: Mapping[str, Harmless] = {
    "black": Harmless(_options("-q -v --check --diff --quiet --verbose --color --no-color -l= --line-length=")),
    "mypy": Harmless(_options("--strict --pretty --no-error-summary --show-error-codes --ignore-missing-imports -p= -m= --package=")),
    "pyright": Harmless(_options("--outputjson --stats --verbose --warnings")),
    "pytest": Harmless(
        _options(
            _letters("qvxsl"),
            "-ra -rA -rf -rs -rx -rfE -k: -m: -n= --lf --last-failed --ff --failed-first --nf --new-first --sw --stepwise --co "
            "--collect-only --no-header --no-summary --durations= --maxfail= --tb= --capture= --color= --deselect= --ignore= --quiet "
            "--verbose --exitfirst --strict-markers --showlocals --disable-warnings --runxfail --setup-show --fixtures --markers "
            "--timeout= --cov[=] --no-cov --cov-report=term --cov-report=term-missing",
        )
    ),
    "ruff check": Harmless(
        _options(
            "-q -v -n --quiet --verbose --diff --select= --ignore= --no-cache --statistics --output-format= --preview --show-fixes "
            "--exit-zero"
        )
    ),
    "ruff format": Harmless(_options("-q -v -n --quiet --verbose --check --diff --no-cache --preview --line-length=")),
    "unittest": Harmless(_options("-v -q -f -b --verbose --quiet --failfast --buffer -k: -s= -t= -p:")),
}
_PIP: Mapping[str, Harmless] = {
    "pip check": Harmless(operands="none"),
    "pip freeze": Harmless(operands="none"),
    "pip list": Harmless(_options("--format="), operands="none"),
    "pip show": Harmless(_options("-f --files")),
}
_SCRIPT_TOOLS: Mapping[str, Harmless] = {
    "eslint": Harmless(_options("--quiet --max-warnings= --ext= --no-color --color --no-error-on-unmatched-pattern"), here=True),
    "jest": Harmless(
        _options("-i -t: --testNamePattern: --runInBand --verbose --silent --bail --ci --no-coverage --passWithNoTests --forceExit"),
        here=True,
    ),
    "prettier --check": Harmless(here=True),
    "tsc": Harmless(_options("--noEmit --pretty --strict --skipLibCheck -b -p= --project="), operands="none", here=True),
    "vitest run": Harmless(_options("-t: --testNamePattern: --silent --bail= --passWithNoTests --no-color"), here=True),
}

_OTHERS: Mapping[str, Harmless] = {
    "cd": Harmless(operands="one place"),
    "date": Harmless(_options("-u -R -I"), operands="none", first=re.compile(r"\+.*")),
    "echo": _READS_NO_FILE,
    "egrep": _SEARCHES,
    "false": _READS_NO_FILE,
    "fgrep": _SEARCHES,
    "find": Harmless(
        _options(
            "-L -P -name: -iname: -path: -ipath: -wholename: -regex: -iregex: -type: -maxdepth: -mindepth: -size: -mtime: -mmin: "
            "-newer= -not -o -a -or -and -print -print0 -prune -empty -follow -xdev -depth -daystart"
        )
    ),
    "grep": _SEARCHES,
    "jq": Harmless(
        _options(_letters("rcesnSMCaj"), "--raw-output --compact-output --exit-status --slurp --null-input --sort-keys --tab"),
        first=_ANY_TEXT,
    ),
    "rg": Harmless(
        _options(
            _letters("nilwcvFPHouUxSsNI"),
            "-A= -B= -C= -g: -t= -T= -m= --line-number --ignore-case --files-with-matches --word-regexp --count --invert-match "
            "--fixed-strings --multiline --hidden --no-ignore --glob: --type= --type-not= --max-count= --context= --after-context= "
            "--before-context= --no-heading --heading --color= --sort= --smart-case --only-matching --json --stats --no-filename "
            "--with-filename --max-depth= --trim --vimgrep --no-messages",
        ),
        first=_ANY_TEXT,
    ),
    "sed": Harmless(
        _options("-n -E -r --quiet --silent"), first=re.compile(r"(?:\d+|\$)(?:,(?:\+?\d+|\$))?p(?:;(?:\d+|\$)(?:,(?:\+?\d+|\$))?p)*")
    ),
    "seq": _READS_NO_FILE,
    "sort": Harmless(
        _options(
            _letters("nrubfdighVMcCsz"),
            "-k= -t: --key= --numeric-sort --reverse --unique --version-sort --human-numeric-sort --ignore-case --check --stable",
        )
    ),
    "tr": _READS_NO_FILE,
    "tree": Harmless(_options(_letters("adfihsDCpugF"), "-L= -I: -P: --dirsfirst --noreport --prune --gitignore")),
    "true": _READS_NO_FILE,
    "uniq": Harmless(_options(_letters("cduiz"), "-f= -s= -w= --count --repeated --unique --ignore-case"), operands="none"),
    "bun test": Harmless(_options("-t: --test-name-pattern: --bail[=] --timeout="), here=True),
    "bundle exec rspec": Harmless(_options("-f= -e: --fail-fast --no-color --format="), here=True),
    "cargo fmt": Harmless(_options("--all --check"), operands="none", here=True),
    "cargo tree": Harmless(_CARGO, operands="none", here=True),
    "dotnet build": Harmless(_options("--no-restore --nologo"), operands="none", here=True),
    "dotnet test": Harmless(_options("--no-build --no-restore --nologo --filter:"), operands="none", here=True),
    "go version": Harmless(operands="none"),
    "go test": Harmless(_GO, here=True),
    "go vet": Harmless(_GO, here=True),
    "go build": Harmless(_GO, here=True),
    "gradle build": _SCRIPT,
    "gradle check": _SCRIPT,
    "gradle test": _SCRIPT,
    "make": Harmless(_options(_letters("jksB")), operands="none", here=True),
    "mvn package": Harmless(_options("-q -B -o"), operands="none", here=True),
    "mvn test": Harmless(_options("-q -B -o"), operands="none", here=True),
    "mvn verify": Harmless(_options("-q -B -o"), operands="none", here=True),
    "npm list": Harmless(_options("-a -g --all --depth= --json --long"), here=True),
    "npm ls": Harmless(_options("-a -g --all --depth= --json --long"), here=True),
    "npm test": _NPM_SCRIPT,
    "pnpm test": _SCRIPT,
    "rspec": Harmless(_options("-f= -e: --fail-fast --no-color --format="), here=True),
    "swift build": Harmless(_options("-v"), operands="none", here=True),
    "swift test": Harmless(_options("-v --parallel --filter:"), operands="none", here=True),
    "tox": Harmless(_options("-q -v"), operands="none", here=True),
    "yarn test": _SCRIPT,
}


def _under(prefixes: str, tools: Mapping[str, Harmless]) -> dict[str, Harmless]:
    """The tools behind what starts them (`uv run pytest`)."""
    return {f"{prefix.strip()} {name}": rule for prefix in prefixes.split(",") for name, rule in tools.items()}


COMMANDS: Mapping[str, Harmless] = {
    **dict.fromkeys(_PLAIN.split(), _READS),
    **_OTHERS,
    **_under("git", _GIT),
    **_under("cargo", {name: Harmless(_CARGO, here=True) for name in ("bench", "build", "check", "clippy", "doc", "test")}),
    **{name: rule for name, rule in _PYTHON_TOOLS.items() if name != "unittest"},
    **_under("python -m, python3 -m, uv run python -m, uv run python3 -m", {**_PYTHON_TOOLS, **_PIP}),
    **_under("uv run, poetry run", {name: rule for name, rule in _PYTHON_TOOLS.items() if name != "unittest"}),
    **_PIP,
    **_under("uv", _PIP),
    **_SCRIPT_TOOLS,
    **_under("npx, pnpm exec, yarn exec", _SCRIPT_TOOLS),
}
"""By the words that a command has to begin with."""

NAMED: Mapping[str, Harmless] = {"npm run": _NPM_SCRIPT, "pnpm run": _SCRIPT, "yarn run": _SCRIPT, "make": COMMANDS["make"]}
"""Commands whose next word is a name that the project defines: it belongs to what is allowed."""

LONGEST_NAME = max(len(name.split()) for name in COMMANDS)
"""Words."""
