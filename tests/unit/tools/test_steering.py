"""Which names run by themselves, which steer a tool, and which are plain source."""

from __future__ import annotations

from pathlib import PurePath

import pytest

from ullage.tools.steering import starts_by_itself, steers


def words(text: str) -> list[str]:
    """The words of a text."""
    return text.split()


STARTS = words("""
.vscode/tasks.json sub/.VSCODE/settings.json a.code-workspace .idea/workspace.xml .zed/tasks.json .devcontainer/devcontainer.json
.devcontainer.json .git .git/config .git/hooks/pre-commit sub/.git .g\u200cit/config .git./config .git::$INDEX_ALLOCATION/config
GIT~1/config mirror.git/hooks/x .gitmodules .husky/pre-commit .githooks/pre-push .lefthook.yml lefthook.yml .pre-commit-config.yaml
.envrc sub/.envrc .mise.toml mise.toml .mise/config.toml .tool-versions .bashrc .zshenv .profile .claude/settings.json
.claude/settings.local.json .cursor/rules/a.mdc .mcp.json AGENTS.md sub/CLAUDE.md CLAUDE.local.md GEMINI.md .github/workflows/ci.yml
.github/copilot-instructions.md .gitlab-ci.yml .circleci/config.yml azure-pipelines.yml Jenkinsfile
    .ssh/config .ullage/ullage.db .clinerules .windsurfrules
.exrc .dir-locals.el .gitpod.yml .roo/rules.md
""")

STEER = words("""
.npmrc .yarnrc.yml .yarn/releases/yarn.cjs .pnpmfile.cjs .cargo/config.toml .mvn/extensions.xml
conftest.py sub/conftest.py setup.py setup.cfg package.json Makefile makefile GNUmakefile rules.mk .gitattributes .eslintrc.js
.eslintrc.json eslint.config.mjs prettier.config.js .prettierrc vite.config.ts webpack.config.js jest.config.ts vitest.config.ts
babel.config.js .babelrc tsconfig.json tsconfig.build.json sitecustomize.py usercustomize.py lib/x.pth pyproject.toml tox.ini noxfile.py
pytest.ini Dockerfile docker-compose.yml compose.yaml CMakeLists.txt build.gradle build.gradle.kts gradlew pom.xml mvnw Rakefile Gemfile
Justfile Taskfile.yml build.rs Cargo.toml go.mod requirements.txt requirements-dev.txt Pipfile manage.py .env .nvmrc flake.nix shell.nix
tasks.py Procfile Directory.Build.props a.csproj nuget.config Vagrantfile main.tf .rspec BUILD.bazel WORKSPACE meson.build composer.json
deno.json gulpfile.js turbo.json .lintstagedrc
""")

PLAIN = words("""
a.txt src/tank.py src/tank.ts README.md docs/guide.md src/__init__.py index.html style.css data.json src/git.py vscode/a.json gitignore
src/agents.py lib/claude.py tests/test_tank.py src/environment.py a.sh main.go Main.java .gitignore .editorconfig
""")


@pytest.mark.parametrize("name", STARTS)
def test_starts_by_itself(name: str) -> None:
    assert starts_by_itself(PurePath(name))
    assert steers(PurePath(name)) == starts_by_itself(PurePath(name))


@pytest.mark.parametrize("name", STEER)
def test_steers_where_somebody_starts_a_tool(name: str) -> None:
    assert steers(PurePath(name))


@pytest.mark.parametrize("name", PLAIN)
def test_plain_files_do_neither(name: str) -> None:
    assert steers(PurePath(name)) is None


@pytest.mark.parametrize(
    "name",
    [
        "package.json",
        "Makefile",
        "build/Makefile",
        "conftest.py",
        "tsconfig.json",
        ".yarn/install-state.gz",
        "Cargo.toml",
        ".env",
        "requirements.txt",
    ],
)
def test_what_builds_make_does_not_start_by_itself(name: str) -> None:
    assert starts_by_itself(PurePath(name)) is None


def test_no_name_steers_nothing() -> None:
    assert steers(PurePath()) is None
