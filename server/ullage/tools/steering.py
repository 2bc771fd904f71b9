"""Files that run by themselves or steer a tool: their names, and where such files lie in a workspace folder.

A harmless-looking edit of one can have any effect later. There is one list for all who need it: edits of these ask each time (`steers`),
and what a command in the sandbox makes new of those that run without anybody starting them is taken back (`starts_by_itself`). A build
makes files of the other kind all the time (`Makefile`, `package.json`), so these are not taken back.
Each list stands under its reason: words that follow "because". Names are in lower case, as `fnmatch` reads them. Only names are looked
at, the way the most forgiving file system reads them (`compared`). What a link leads to is the caller's business.

`StartingFiles` looks for them before and after each command, however deep, so what was listed is remembered. A folder is listed again only
where it has changed: adding, removing and renaming in it sets its ctime, which no program can set to a time of its choice. Asking for that
takes some 10 µs a folder.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import lru_cache
from pathlib import Path, PurePath

from ullage.workspace.folders import compared

EDITOR = "editors run tasks from it or read settings that name programs"
GIT = "git runs programs that it names"
HOOKS = "git hooks run from it"
SHELL = "shells run it or load it when they start or change into the folder"
CI = "build servers run what it says"
AGENT = "coding agents obey it"
CONTAINER = "it says how the development container is built and started"
PACKAGES = "package managers read from it where packages come from and what runs on installing"
SECRETS = "it holds keys and says which hosts are believed"
OWN = "it holds what Ullage keeps of the workspace"
BUILD = "builds run it"
TESTS = "test runs load it"
PYTHON = "Python runs it at its start or on import"
LINT = "linters, formatters or bundlers run it or load programs that it names"
PROJECT = "it names commands that tools run"


def _names(words: str) -> Sequence[str]:
    return tuple(words.split())


_FOLDERS_THAT_START: Mapping[str, Sequence[str]] = {
    EDITOR: (".vscode", ".vscode-server", ".idea", ".vs", ".zed", ".fleet", ".nova", ".theia", ".sublime"),
    GIT: (".git", ".jj", ".hg"),
    HOOKS: (".githooks", ".git-hooks", ".husky", ".lefthook", ".hooks"),
    SHELL: (".mise", ".direnv", ".bashrc.d", ".zsh", ".asdf"),
    CI: (".github", ".gitlab", ".circleci", ".buildkite", ".forgejo", ".gitea", ".woodpecker", ".teamcity", ".azure-pipelines"),
    AGENT: _names(
        """
        .agents .aider .amazonq .augment .claude .cline .clinerules .codex .continue .crush .cursor .factory .gemini .goose
        .junie .kilocode .kiro .opencode .qwen .roo .windsurf
        """
    ),
    CONTAINER: (".devcontainer",),
    SECRETS: (".ssh", ".gnupg"),
    OWN: (".ullage",),
}
"""The names of folders in which every file starts by itself, by reason."""

_FILES_THAT_START: Mapping[str, Sequence[str]] = {
    EDITOR: _names(
        """
        *.code-workspace .exrc .nvimrc .nvim.lua .vimrc .lvimrc .dir-locals.el .dir-locals-2.el *.sublime-project
        """
    ),
    GIT: (".gitmodules", ".gitconfig", ".git"),
    HOOKS: _names(
        """
        .lefthook* lefthook*.yml lefthook*.yaml lefthook*.toml lefthook*.json .pre-commit-config.y*ml lint-staged.config.*
        .lintstagedrc* .huskyrc* .overcommit.yml prek.toml
        """
    ),
    SHELL: _names(
        """
        .bash_login .bash_logout .bash_profile .bashrc .direnvrc .envrc .inputrc .login .mise.* mise.*toml mise.toml .profile
        .tool-versions .xprofile .xsession .zlogin .zlogout .zprofile .zshenv .zshrc .autoenv* .env.fish .tmux.conf .screenrc
        .gdbinit .lldbinit
        """
    ),
    CI: _names(
        """
        .gitlab-ci*.y*ml .travis.yml .drone.y*ml .woodpecker*.y*ml .cirrus.y*ml azure-pipelines*.y*ml bitbucket-pipelines.yml
        buildspec*.y*ml cloudbuild*.y*ml jenkinsfile* appveyor.yml .appveyor.yml .pre-commit-hooks.yaml renovate.json*
        .renovaterc*
        """
    ),
    AGENT: _names(
        """
        agents.md agents.*.md agent.md claude.md claude.*.md gemini.md qwen.md crush.md opencode.json* skill.md
        copilot-instructions.md *.instructions.md *.prompt.md *.chatmode.md .aider* .clinerules* .cursorrules .cursorignore
        .goosehints .roomodes .roorules* .rules .windsurfrules .mcp.json mcp.json conventions.md
        """
    ),
    CONTAINER: (".devcontainer.json", ".gitpod.y*ml", "devcontainer.json"),
}
"""The names of files (or folders) that start by themselves, as `fnmatch` reads them, by reason."""

_FOLDERS_THAT_STEER: Mapping[str, Sequence[str]] = {PACKAGES: (".yarn", ".mvn", ".cargo", ".pnpm", ".bundle")}
"""The names of folders in which every file steers a tool, by reason."""

_FILES_THAT_STEER: Mapping[str, Sequence[str]] = {
    PACKAGES: _names(
        """
        .npmrc .yarnrc .yarnrc.* .pnpmfile.* .pypirc .netrc _netrc .pip.conf pip.conf .bunfig.toml bunfig.toml .condarc .gemrc
        .bundle
        """
    ),
    GIT: (".gitattributes", ".git-blame-ignore-revs"),
    PYTHON: ("sitecustomize.py", "usercustomize.py", "*.pth", "__main__.py", "pyvenv.cfg", ".pythonrc*", ".pdbrc", ".python-version"),
    TESTS: _names(
        """
        conftest.py pytest.ini .pytest.ini tox.ini .coveragerc noxfile.py .mocharc* .nycrc* jest.* jest-* vitest.* karma.*
        cypress.* playwright.* wdio.* .rspec spec_helper.rb rails_helper.rb phpunit.xml* ava.config.* test_helper.* setuptests.*
        setup-tests.*
        """
    ),
    BUILD: _names(
        """
        .pnp.cjs .pnp.loader.mjs .dockerignore brewfile* cakefile snakefile* *.smk conanfile.* dune-project dune dune-workspace
        local.properties *.cabal cabal.project* *.nimble wrangler.* gatsby-* codegen.* mkdocs.y*ml makefile* gnumakefile* *.mk
        *.mak cmakelists.txt cmakepresets.json cmakeuserpresets.json *.cmake meson.build meson_options.txt configure
        configure.ac *.gradle *.gradle.kts gradlew* gradle.properties gradle-wrapper.* mvnw* pom.xml build.xml build.rs
        build.zig build.sbt build.* rakefile* *.rake gemfile* *.gemspec capfile guardfile vagrantfile* dockerfile* *.dockerfile
        containerfile* docker-compose* compose*.y*ml workspace.bazel module.bazel workspace build *.bzl *.bazel .bazelrc
        tiltfile earthfile justfile* .justfile taskfile* tasks.py wscript sconstruct sconscript fabfile.py dodo.py magefile.go
        rebar.config* mix.exs project.clj deps.edn flake.nix shell.nix default.nix devenv.nix *.csproj *.vbproj *.fsproj
        *.vcxproj* *.props *.targets *.sln nuget.config package.swift podfile fastfile cargo.toml rust-toolchain* go.mod go.work
        global.json procfile* skaffold.yaml *.tf pulumi.yaml serverless.y*ml netlify.toml vercel.json fly.toml
        """
    ),
    PROJECT: _names(
        """
        ansible.cfg .terraformrc terraform.rc package.json package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml
        pnpm-workspace.yaml lerna.json nx.json project.json turbo.json rush.json workspace.json deno.json* composer.json
        pyproject.toml setup.py setup.cfg uv.toml poetry.toml pdm.toml hatch.toml pipfile* requirements*.txt requirements*.in
        constraints*.txt environment.y*ml manage.py .env .env.* .node-version .nvmrc .ruby-version .java-version .sdkmanrc
        .babelrc* tsconfig*.json jsconfig*.json gulpfile* gruntfile* jakefile* nodemon.json .nodemonrc* .swcrc metro.config.*
        app.json angular.json ember-cli-build.js .ember-cli* .ncurc* .watchmanconfig .releaserc* .czrc dangerfile*
        """
    ),
    LINT: _names(
        """
        .browserslistrc .codeclimate.y*ml .eslintrc* .prettierrc* .stylelintrc* .commitlintrc* .markdownlint* .jshintrc
        .postcssrc* .flake8 .pylintrc pylintrc mypy.ini .mypy.ini .rubocop*.yml .golangci.* ruff.toml .ruff.toml
        pyrightconfig.json .oxlintrc* biome.json* .clang-tidy .clangd compile_commands.json *.config.js *.config.cjs
        *.config.mjs *.config.ts *.config.cts *.config.mts *.config.json *.conf.js *rc.js *rc.cjs *rc.mjs *rc.ts
        """
    ),
}
"""The names of files that steer a tool, as `fnmatch` reads them, by reason."""


BARE_REPOSITORY = ".git"
"""The end of the name of a repository without a working tree; its hooks and its config run programs as those of `.git` do."""

SHORT_NAME = re.compile(r"[^.]{1,8}~\d+(?:\..*)?")
"""A name that Windows may take for another one (`GIT~1`)."""

_STARTING_FOLDERS = {name: reason for reason, names in _FOLDERS_THAT_START.items() for name in names}

_STEERING_FOLDERS = {name: reason for reason, names in _FOLDERS_THAT_STEER.items() for name in names}

MOST_FOLDERS = 20_000
"""How many folders of a workspace folder are looked into, the upper ones first: so a command waits for it half a second at most, the
first one some seconds."""

PASSED_OVER = frozenset(
    {"node_modules", ".venv", "venv", ".tox", ".nox", "__pycache__", "site-packages", "bower_components", "target", ".gradle"}
)
"""Folders full of other people's packages, which have such files and are no workspace of anybody."""

SETTLED_NANOSECONDS = 2_000_000_000
"""How old the last change has to be for a listing to be believed later: file systems have coarse clocks, and a further change within one
tick would not show."""


def starts_by_itself(path: PurePath) -> str | None:
    """Why a file is read or run without anybody starting it, in words that follow "because"; None if it is not."""
    names = [compared(part) for part in path.parts]
    for name in names:
        if name in _STARTING_FOLDERS:
            return _STARTING_FOLDERS[name]
        if name.endswith(BARE_REPOSITORY):
            return GIT
        if SHORT_NAME.fullmatch(name):
            return "Windows may take it for another name"
    return _first(names, _STARTING_FILES)


def steers(path: PurePath) -> str | None:
    """Why an edit of a file can run something later or steer a tool, in words that follow "because"; None if it cannot.

    The path is one within a workspace folder, or absolute; in a workspace that itself lies below such a folder, every file steers, too.
    """
    names = [compared(part) for part in path.parts]
    below = next((_STEERING_FOLDERS[name] for name in names if name in _STEERING_FOLDERS), None)
    return starts_by_itself(path) or below or _first(names, _STEERING_FILES)


def _first(names: Sequence[str], table: Sequence[tuple[re.Pattern[str], str]]) -> str | None:
    if not names:
        return None
    return next((reason for pattern, reason in table if pattern.match(names[-1])), None)


def _compiled(table: Mapping[str, Sequence[str]]) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile("|".join(map(translate, names))), reason) for reason, names in table.items())


_STARTING_FILES = _compiled(_FILES_THAT_START)


_STEERING_FILES = _compiled(_FILES_THAT_STEER)


@dataclass(frozen=True, slots=True)
class _Listing:
    """What a folder held when it was last listed."""

    stamp: tuple[int, int, int, int]
    is_settled: bool
    folders: tuple[str, ...]
    starting: tuple[str, ...]


class StartingFiles:
    """Looks through workspace folders for files that start by themselves, and remembers what it saw. For any thread. Links are not
    followed."""

    def __init__(self) -> None:
        self._known: dict[Path, dict[str, _Listing]] = {}
        self._in_part: set[Path] = set()

    def below(self, root: Path) -> Sequence[Path]:
        """The files and folders in a workspace folder that start by themselves now, upper folders first. What lies in such a folder is not
        named again."""
        before, seen = self._known.get(root, {}), dict[str, _Listing]()
        folders = deque([str(root)])
        found: list[Path] = []
        while folders and len(seen) < MOST_FOLDERS:
            folder = folders.popleft()
            listing = _listing(folder, before.get(folder))
            if listing is None:
                continue
            seen[folder] = listing
            found += [Path(folder, name) for name in listing.starting]
            folders += [os.path.join(folder, name) for name in listing.folders]  # noqa: PTH118 - a path object takes ten times as long
        self._known[root] = seen
        (self._in_part.add if folders else self._in_part.discard)(root)
        return found

    def saw_all(self, root: Path) -> bool:
        """Whether `below` looked into all folders when it was last asked."""
        return root not in self._in_part


def _listing(folder: str, known: _Listing | None) -> _Listing | None:
    """The folder as it is now; None if it cannot be read. The known listing is given again if the folder has not changed."""
    try:
        state = os.lstat(folder)
        stamp = state.st_dev, state.st_ino, state.st_ctime_ns, state.st_mtime_ns
        if known is not None and known.is_settled and known.stamp == stamp:
            return known
        if not stat.S_ISDIR(state.st_mode):
            return None
        is_settled = time.time_ns() - state.st_ctime_ns > SETTLED_NANOSECONDS
        with os.scandir(folder) as inside:
            entries = sorted(inside, key=lambda entry: entry.name)
        starting = tuple(entry.name for entry in entries if _starts(entry.name))
        folders = tuple(
            entry.name
            for entry in entries
            if entry.name not in starting and entry.name not in PASSED_OVER and entry.is_dir(follow_symlinks=False)
        )
    except OSError:
        return None
    return _Listing(stamp, is_settled, folders, starting)


@lru_cache(maxsize=20_000)
def _starts(name: str) -> bool:
    return starts_by_itself(PurePath(name)) is not None
