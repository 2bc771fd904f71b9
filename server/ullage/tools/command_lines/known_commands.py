"""Commands that are known, with what each may be given: those that only read, and those that run what the folder says.

A list of what is safe: a program, option or value that nobody thought of is not on it. Two kinds of commands only read. What `reads` does
the same whatever the folder holds. What `consults` (git, above all) changes nothing by itself, but a config or a hook in the folder can
make it run programs, and no list of options closes that; so it counts as harmless only where a sandbox gives it nothing.

Left out on purpose: all that follows links within folders (`grep -R`, `find -L`, `ls -L`, `du -L`; `diff` of folders), names files
in a file (`--files0-from`, `md5sum -c`, `du -X`), writes (`sort -o`, `find -fprint`, `tree -o`, the second file of `uniq`), runs
(`sort --compress-program`, `rg --pre`, `find -exec`, `diff -l`), waits (`tail -f`), and all of `awk`, `xxd`, `printf`, `test`, `env`,
`printenv`, `man`, `less`, `python -m pip`.

An option's value may stand as its own word only where a place in the workspace could stand: systems differ in which options take one.

What `runs` (tests, builds, linters with their plugins, hooks of git) is never harmless. But the user can allow it by its name, as they
would allow "run the tests"; what it may be given after that is judged, so that the words of a line cannot make more of it: no other config,
no plugin by name, no other folder. Left out there: `pytest -p`, `-c`, `-o`, `--rootdir`, `--basetemp`, `--junitxml` and `-W`,
`mypy --python-executable`, `eslint -f`, `go test -exec` and `-o`, `cargo --config`, `npm --prefix`, what a script is given
(`npm test -- x`), `git commit --amend`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from ullage.tools.command_lines.rules import CommandRule, letters, options, under

_FUNCTIONS = (
    "add all and any arrays ascii_downcase ascii_upcase booleans capture ceil contains del else elif empty end endswith explode first "
    "flatten floor from_entries fromjson group_by gsub has if implode in index inside isempty join keys keys_unsorted last leaf_paths "
    "length limit ltrimstr map map_values match max max_by min min_by not null nulls numbers objects or path paths reverse "
    "round rtrimstr scalars scan select sort sort_by split splits startswith strings sub test then to_entries tojson tonumber tostring "
    "transpose true false type unique unique_by values with_entries"
)
_NAMES = "|".join(sorted(_FUNCTIONS.split(), key=len, reverse=True))

_PIECE_OF_FILTER = re.compile(
    rf"""(?x)
        [ \t\n]+
      | \.[A-Za-z_][A-Za-z0-9_]*
      | "[^"\\]*"
      | [0-9]+(?:\.[0-9]+)?(?![A-Za-z_])
      | @(?:csv|tsv|json|text|base64)(?![A-Za-z0-9_])
      | (?<![A-Za-z0-9_:])(?:{_NAMES})(?![A-Za-z0-9_:])
      | [.|,;:?+\-*/%<>=!()\[\]{{}}]
    """
)
"""One piece of a harmless filter of `jq`. Names with `::` in them belong to modules, and are no such piece."""


def is_plain_filter(text: str) -> bool:
    """Whether every piece of a filter of `jq` is on the list."""
    at = 0
    while at < len(text):
        piece = _PIECE_OF_FILTER.match(text, at)
        if piece is None:
            return False
        at = piece.end()
    return True


_ANY_TEXT = re.compile(r"(?s).*")


def _reads(*texts: str) -> CommandRule:
    return CommandRule("reads", options(*texts))


_HASHES = _reads(letters("btz"), "--binary --text --tag --zero")

_SEARCHES = CommandRule(
    "reads",
    options(
        letters("nilLwcvrhHoEFGPxqsaI"),
        "-A= -B= -C[=] -m= --include[=] --exclude[=] --exclude-dir[=] --color[=] --recursive --line-number --ignore-case "
        "--files-with-matches --files-without-match --word-regexp --count --invert-match --only-matching --extended-regexp "
        "--fixed-strings --perl-regexp "
        "--max-count[=] --context[=] --after-context[=] --before-context[=] --no-filename --with-filename --quiet --no-messages --text",
    ),
    first=_ANY_TEXT,
)
"""The rule for programs like `grep`. Without `-e` and `-f`, with which the first operand is a file already. An older grep of BSD takes no
word after `-C`, so none is counted."""

_PLAIN: Mapping[str, CommandRule] = {
    "basename": CommandRule("reads", options("-a -z"), operands="text"),
    "cat": _reads(letters("nbsAeEtTuv"), "--number --number-nonblank --squeeze-blank --show-all --show-ends --show-tabs"),
    "cksum": _reads(),
    "cmp": CommandRule("reads", options(letters("bls"), "-n= --silent --quiet"), operands="files"),
    "comm": CommandRule("reads", options("-1 -2 -3 -12 -13 -23 -123"), operands="files"),
    "cut": _reads("-d= -f= -c= -b= -s --delimiter= --fields= --characters= --complement --output-delimiter="),
    "diff": CommandRule(
        "reads",
        options(letters("uqwbBiaNypds"), "-U= -W= --brief --unified[=] --side-by-side --color[=] --ignore-all-space --ignore-case"),
        operands="files",
    ),
    "dirname": CommandRule("reads", options("-z"), operands="text"),
    "du": _reads(letters("shakmcx0b"), "-d= --max-depth[=] --summarize --human-readable --total --apparent-size --exclude[=]"),
    "expand": _reads("-i -t="),
    "file": _reads(letters("bi"), "--brief --mime --mime-type --mime-encoding"),
    "fold": _reads(letters("bs"), "-w="),
    "head": _reads(letters("qv"), "-n= -c= --lines[=] --bytes[=] --quiet --verbose"),
    "id": CommandRule("reads", options(letters("unGgr")), operands="none"),
    "ls": _reads(
        letters("1AaBbCcdFfGghiklmNnopQqRrSsTtUuvXxZ"),
        "--all --almost-all --human-readable --size --sort[=] --time[=] --time-style[=] --color[=] --recursive --reverse --full-time "
        "--group-directories-first --inode --classify --directory --no-group --numeric-uid-gid --format[=]",
    ),
    "md5sum": _HASHES,
    "nl": _reads("-ba -b= -n= -w= -v= -s="),
    "od": _reads(letters("abcdoxv"), "-A= -t= -j= -N="),
    "paste": _reads("-d= -s"),
    "pwd": CommandRule("reads", options("-L -P"), operands="none"),
    "readlink": _reads(letters("femn"), "--canonicalize"),
    "realpath": _reads(letters("ems"), "--relative-to="),
    "rev": _reads(),
    "sha1sum": _HASHES,
    "sha256sum": _HASHES,
    "sha512sum": _HASHES,
    "stat": _reads(letters("ftx"), "-c= --format= --printf= --terse"),
    "tac": _reads("-r -s="),
    "tail": _reads(letters("qv"), "-n= -c= --lines[=] --bytes[=] --quiet --verbose"),
    "uname": CommandRule("reads", options(letters("asnrvmpio"), "--all"), operands="none"),
    "unexpand": _reads("-a -t="),
    "wc": _reads(letters("lwcmL"), "--lines --words --bytes --chars --max-line-length"),
    "whoami": CommandRule("reads", operands="none"),
}

_ANYTHING = CommandRule("reads", operands="anything")

_OTHERS: Mapping[str, CommandRule] = {
    "cd": CommandRule("reads", operands="one place"),
    "command -v": _reads(),
    "date": CommandRule("reads", options("-u -R -I -Iseconds -Iminutes"), operands="none", first=re.compile(r"\+.*")),
    "echo": _ANYTHING,
    "egrep": _SEARCHES,
    "false": _ANYTHING,
    "fgrep": _SEARCHES,
    "find": CommandRule(
        "reads",
        options(
            "-P -name: -iname: -path: -ipath: -wholename: -regex: -iregex: -type: -maxdepth: -mindepth: -size: -mtime: -mmin: -perm: "
            "-newer= -not -o -a -or -and -print -print0 -ls -prune -empty -xdev -depth -daystart -executable -readable -writable"
        ),
    ),
    "grep": _SEARCHES,
    "jq": CommandRule(
        "reads",
        options(letters("rcesnSMCaj"), "--raw-output --compact-output --exit-status --slurp --null-input --sort-keys --tab"),
        first=is_plain_filter,
    ),
    "rg": CommandRule(
        "reads",
        options(
            letters("nilwcvFPHoUuxSsNI"),
            "-A= -B= -C= -g: -t= -T= -m= --line-number --ignore-case --files-with-matches --word-regexp --count --invert-match "
            "--fixed-strings --multiline --hidden --no-ignore --glob: --type= --type-not= --max-count= --context= --after-context= "
            "--before-context= --no-heading --heading --color= --sort= --smart-case --only-matching --json --stats --no-filename "
            "--with-filename --max-depth= --trim --vimgrep --no-messages",
        ),
        first=_ANY_TEXT,
    ),
    "rg --files": CommandRule("reads", options("-g: -t= --hidden --no-ignore --glob: --type= --sort= --max-depth=")),
    "sed": CommandRule(
        "reads",
        options("-n -E -r --quiet --silent"),
        first=re.compile(r"(?:\d+|\$)(?:,(?:\+?\d+|\$))?p(?:;(?:\d+|\$)(?:,(?:\+?\d+|\$))?p)*"),
    ),
    "seq": CommandRule("reads", options("-w -s="), operands="text"),
    "sort": _reads(
        letters("nrubfdighVMcCsz"),
        "-k= -t= --key= --numeric-sort --reverse --unique --version-sort --human-numeric-sort --ignore-case --check --stable",
    ),
    "tr": CommandRule("reads", options(letters("dsct")), operands="text"),
    "tree": _reads(letters("adfihsDCpugF"), "-L= -I: -P: --dirsfirst --noreport --prune --gitignore"),
    "true": _ANYTHING,
    "uniq": CommandRule("reads", options(letters("cduiz"), "-f= -s= -w= --count --repeated --unique --ignore-case"), operands="none"),
    "which": _reads("-a"),
}

_DIFF = options(
    letters("puMCDRabwzs"),
    "-U= -G: -S: --stat[=] --numstat --shortstat --dirstat[=] --summary --name-only --name-status --patch --no-patch --raw --cached "
    "--staged --merge-base --color[=] --no-color --word-diff[=] --color-words --check --minimal --patience --histogram --diff-filter= "
    "--unified= --find-renames[=] --find-copies[=] --no-renames --ignore-all-space --ignore-space-change --ignore-blank-lines "
    "--exit-code --quiet --no-ext-diff --no-textconv --relative[=] --abbrev[=] --full-index --binary --text --function-context "
    "--compact-summary --submodule[=]",
)
_LOG = _DIFF | options(
    letters("giEF"),
    "-n= -L: --oneline --graph --all --branches[=] --tags[=] --remotes[=] --decorate[=] --no-decorate --follow --format: --pretty[=] "
    "--max-count= --skip= --since: --until: --after: --before: --author: --committer: --grep: --merges --no-merges --first-parent "
    "--reverse --date: --abbrev-commit --topo-order --date-order --left-right --cherry-pick --count --walk-reflogs --source",
)
_BRANCH = options(letters("arv"), "-vv --list --all --remotes --verbose --show-current --merged[=] --no-merged[=] --contains[=] --sort=")
_GREP = options(letters("nilwcvEFPhHo"), "-A= -B= -C= --count --cached --untracked")
_LS_FILES = options(letters("cdmosktz"), "--others --cached --modified --deleted --exclude-standard --stage --error-unmatch --full-name")
_REV_PARSE = "--show-toplevel --abbrev-ref --short[=] --verify --git-dir --git-common-dir --is-inside-work-tree --show-prefix"
_STATUS = "-uno -unormal -uall --short --branch --porcelain[=] --long --ignored[=] --untracked-files[=] --show-stash --no-renames"


def _consults(*texts: str) -> CommandRule:
    return CommandRule("consults", options(*texts))


def _consults_alone(*texts: str) -> CommandRule:
    return CommandRule("consults", options(*texts), operands="none")


_GIT: Mapping[str, CommandRule] = {
    "--version": _consults_alone(),
    "blame": _consults(letters("wsflteMC"), "-L: --date: --since: --show-name --show-number"),
    "branch": CommandRule("consults", _BRANCH, operands="none"),
    "cat-file": _consults(letters("pts")),
    "describe": _consults("--tags --always --dirty[=] --abbrev= --all --long --match="),
    "diff": CommandRule("consults", _DIFF),
    "grep": CommandRule("consults", _GREP, first=_ANY_TEXT),
    "log": CommandRule("consults", _LOG),
    "ls-files": CommandRule("consults", _LS_FILES),
    "ls-tree": _consults(letters("rtldz"), "--name-only --full-name"),
    "merge-base": _consults("-a --all --is-ancestor --fork-point"),
    "reflog": _consults_alone("-n= --date:"),
    "remote": _consults_alone("-v --verbose"),
    "rev-list": CommandRule("consults", _LOG),
    "rev-parse": _consults(_REV_PARSE),
    "shortlog": CommandRule("consults", _LOG | options(letters("sne"), "--summary --numbered --email")),
    "show": CommandRule("consults", _LOG),
    "stash list": CommandRule("consults", _LOG, operands="none"),
    "stash show": CommandRule("consults", _DIFF),
    "status": _consults(letters("sbvz"), _STATUS),
    "submodule status": _consults_alone(),
    "tag": _consults_alone("-l -n --list --sort="),
    "worktree list": _consults_alone("-v --porcelain"),
}

_VERSIONS = (
    "cargo --version, go version, node --version, node -v, npm --version, npm -v, pip --version, python --version, python3 --version"
)
"""Commands that tell a version. They consult the folder: starters of tools read its `.tool-versions`, `rust-toolchain.toml` or `go.mod`."""

READING: Mapping[str, CommandRule] = {
    **_PLAIN,
    **_OTHERS,
    **under("git, git --no-pager", _GIT),
    **{name.strip(): _consults_alone() for name in _VERSIONS.split(",")},
    "npm list": _consults("-a -g --all --depth= --json --long"),
    "npm ls": _consults("-a -g --all --depth= --json --long"),
    "pip check": _consults_alone(),
    "pip freeze": _consults_alone(),
    "pip list": _consults_alone("--format="),
    "pip show": CommandRule("consults", options("-f --files"), operands="text"),
}
"""The rules of commands that only read, by the words that a command has to begin with."""

# Commands that run what the folder says


def _runs(*texts: str) -> CommandRule:
    return CommandRule("runs", options(*texts))


def _runs_here(*texts: str) -> CommandRule:
    return CommandRule("runs", options(*texts), here=True)


def _runs_here_alone(*texts: str) -> CommandRule:
    return CommandRule("runs", options(*texts), operands="none", here=True)


_CARGO = options(
    letters("qv"),
    "--quiet --verbose --release --all --workspace --lib --bins --tests --benches --examples --all-targets --all-features "
    "--no-default-features --offline --locked --frozen --no-run --no-fail-fast --keep-going -j= --jobs= -p= --package= --bin= --test= "
    "--example= --bench= --features= --message-format= --color= --no-deps --doc --nocapture --test-threads= --ignored "
    "--include-ignored --exact --show-output --skip=",
)
_GO = (
    "-v -race -short -failfast -json -cover -benchmem -a -x -run: -skip: -bench: -list: -count= -timeout= -parallel= -cpu= -tags= "
    "-benchtime= -covermode="
)
_SCRIPT = _runs_here_alone()
"""The rule for a project's script: nobody knows what it does with an operand or an option (`npm run clean src`), so it takes none."""
_NPM_SCRIPT = _runs_here_alone("-s --silent")
_MAKE = _runs_here_alone(letters("jksB"))

_PYTHON_TOOLS: Mapping[str, CommandRule] = {
    "black": _runs("-q -v --check --diff --quiet --verbose --color --no-color -l= --line-length="),
    "mypy": _runs("--strict --pretty --no-error-summary --show-error-codes --ignore-missing-imports -p= -m= --package="),
    "pyright": _runs("--outputjson --stats --verbose --warnings"),
    "pytest": _runs(
        letters("qvxsl"),
        "-ra -rA -rf -rs -rx -rfE -k: -m: -n= --lf --last-failed --ff --failed-first --nf --new-first --sw --stepwise --co "
        "--collect-only --no-header --no-summary --durations= --maxfail= --tb= --capture= --color= --deselect= --ignore= --quiet "
        "--verbose --exitfirst --strict-markers --showlocals --disable-warnings --runxfail --setup-show --fixtures --markers "
        "--timeout= --cov[=] --no-cov --cov-report=term --cov-report=term-missing",
    ),
    "ruff check": _runs(
        "-q -v -n --quiet --verbose --diff --select= --ignore= --no-cache --statistics --output-format= --preview --show-fixes --exit-zero"
    ),
    "ruff format": _runs("-q -v -n --quiet --verbose --check --diff --no-cache --preview --line-length="),
}
_UNITTEST = {"unittest": _runs("-v -q -f -b --verbose --quiet --failfast --buffer -k: -s= -t= -p:")}

_SCRIPT_TOOLS: Mapping[str, CommandRule] = {
    "eslint": _runs_here("--quiet --max-warnings= --ext= --no-color --color --no-error-on-unmatched-pattern"),
    "jest": _runs_here("-i -t: --testNamePattern: --runInBand --verbose --silent --bail --ci --no-coverage --passWithNoTests --forceExit"),
    "prettier --check": _runs_here(),
    "tsc": _runs_here_alone("--noEmit --pretty --strict --skipLibCheck -b -p= --project="),
    "vitest run": _runs_here("-t: --testNamePattern: --silent --bail= --passWithNoTests --no-color"),
}
_INSTALLED_TOOLS = {name: replace(rule, installed=name.split()[0]) for name, rule in _SCRIPT_TOOLS.items()}

RUNNING: Mapping[str, CommandRule] = {
    **_PYTHON_TOOLS,
    **_SCRIPT_TOOLS,
    **under("python -m, python3 -m, uv run python -m, uv run python3 -m", {**_PYTHON_TOOLS, **_UNITTEST}),
    **under("uv run, poetry run", _PYTHON_TOOLS),
    **under("npx, pnpm exec, yarn exec", _INSTALLED_TOOLS),
    **under("cargo", {name: CommandRule("runs", _CARGO, here=True) for name in ("bench", "build", "check", "clippy", "doc", "test")}),
    "bun test": _runs_here("-t: --test-name-pattern: --bail[=] --timeout="),
    "bundle exec rspec": _runs_here("-f= -e: --fail-fast --no-color --format="),
    "cargo fmt": _runs_here_alone("--all --check"),
    "cargo tree": CommandRule("runs", _CARGO, operands="none", here=True),
    "dotnet build": _runs_here_alone("--no-restore --nologo"),
    "dotnet test": _runs_here_alone("--no-build --no-restore --nologo --filter:"),
    "git add": _runs_here(letters("AuvnN"), "--all --update --verbose --dry-run --intent-to-add"),
    "git commit": _runs_here_alone(letters("aqvs"), "-m: --message: --all --quiet --verbose --signoff"),
    "go build": _runs_here(_GO),
    "go test": _runs_here(_GO),
    "go vet": _runs_here(_GO),
    "gradle build": _SCRIPT,
    "gradle check": _SCRIPT,
    "gradle test": _SCRIPT,
    "make": _MAKE,
    "mvn package": _runs_here_alone("-q -B -o"),
    "mvn test": _runs_here_alone("-q -B -o"),
    "mvn verify": _runs_here_alone("-q -B -o"),
    "npm test": _NPM_SCRIPT,
    "pnpm test": _SCRIPT,
    "rspec": _runs_here("-f= -e: --fail-fast --no-color --format="),
    "swift build": _runs_here_alone("-v"),
    "swift test": _runs_here_alone("-v --parallel --filter:"),
    "tox": _runs_here_alone("-q -v"),
    "uv pip check": _runs_here_alone(),
    "uv pip freeze": _runs_here_alone(),
    "uv pip list": _runs_here_alone("--format="),
    "yarn test": _SCRIPT,
}
"""The rules of commands that run what the folder says, by the words that a command has to begin with."""

NAMED: Mapping[str, CommandRule] = {"npm run": _NPM_SCRIPT, "pnpm run": _SCRIPT, "yarn run": _SCRIPT, "make": _MAKE}
"""The rules of commands whose next word is a name that the project defines: it belongs to what is allowed."""
