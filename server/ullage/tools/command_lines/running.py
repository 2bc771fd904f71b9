"""Commands that run what the folder says: its tests, builds, linters with their plugins, hooks of git.

They are never harmless. But the user can allow them by their name, as they would allow "run the tests"; what they may be given after
it is judged, so that the words of a line cannot make more of it: no other config, no plugin by name, no other folder.

Left out on purpose: `pytest -p`, `-c`, `-o`, `--rootdir`, `--basetemp`, `--junitxml` and `-W`, `mypy --python-executable`,
`eslint -f`, `go test -exec` and `-o`, `cargo --config`, `npm --prefix`, what a script is given (`npm test -- x`), `git commit --amend`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ullage.tools.command_lines.rules import Rule, letters, options, under


def _runs(*texts: str) -> Rule:
    return Rule("runs", options(*texts))


def _runs_here(*texts: str) -> Rule:
    return Rule("runs", options(*texts), here=True)


def _runs_here_alone(*texts: str) -> Rule:
    return Rule("runs", options(*texts), operands="none", here=True)


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
"""What a project's script does with an operand or an option nobody knows (`npm run clean src`)."""
_NPM_SCRIPT = _runs_here_alone("-s --silent")
_MAKE = _runs_here_alone(letters("jksB"))

_PYTHON_TOOLS: Mapping[str, Rule] = {
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

_SCRIPT_TOOLS: Mapping[str, Rule] = {
    "eslint": _runs_here("--quiet --max-warnings= --ext= --no-color --color --no-error-on-unmatched-pattern"),
    "jest": _runs_here("-i -t: --testNamePattern: --runInBand --verbose --silent --bail --ci --no-coverage --passWithNoTests --forceExit"),
    "prettier --check": _runs_here(),
    "tsc": _runs_here_alone("--noEmit --pretty --strict --skipLibCheck -b -p= --project="),
    "vitest run": _runs_here("-t: --testNamePattern: --silent --bail= --passWithNoTests --no-color"),
}
_INSTALLED_TOOLS = {name: replace(rule, installed=name.split()[0]) for name, rule in _SCRIPT_TOOLS.items()}

RUNNING: Mapping[str, Rule] = {
    **_PYTHON_TOOLS,
    **_SCRIPT_TOOLS,
    **under("python -m, python3 -m, uv run python -m, uv run python3 -m", {**_PYTHON_TOOLS, **_UNITTEST}),
    **under("uv run, poetry run", _PYTHON_TOOLS),
    **under("npx, pnpm exec, yarn exec", _INSTALLED_TOOLS),
    **under("cargo", {name: Rule("runs", _CARGO, here=True) for name in ("bench", "build", "check", "clippy", "doc", "test")}),
    "bun test": _runs_here("-t: --test-name-pattern: --bail[=] --timeout="),
    "bundle exec rspec": _runs_here("-f= -e: --fail-fast --no-color --format="),
    "cargo fmt": _runs_here_alone("--all --check"),
    "cargo tree": Rule("runs", _CARGO, operands="none", here=True),
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
"""By the words that a command has to begin with."""

NAMED: Mapping[str, Rule] = {"npm run": _NPM_SCRIPT, "pnpm run": _SCRIPT, "yarn run": _SCRIPT, "make": _MAKE}
"""Commands whose next word is a name that the project defines: it belongs to what is allowed."""
