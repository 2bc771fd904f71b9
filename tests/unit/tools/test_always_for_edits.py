""" "Always" for the edits of a folder covers nothing in it that runs by itself or steers a tool, under whatever name it is known."""

from __future__ import annotations

import pytest

from tests.unit.tools.allowed import covers, rules_for
from tests.unit.tools.workplace import Workplace
from ullage.tools.permission import edit_need
from ullage.tools.rules.covering import Judging, PermissionRule


def words(text: str) -> list[str]:
    """The words of a text."""
    return text.split()


STEERING = words("""
.appveyor.yml .babelrc.js .bazelrc .browserslistrc .buildkite/pipeline.yml .bundle/config .cargo/config .cargo/config.toml
.circleci/config.yml .clang-tidy .clinerules/rule.md .codeclimate.yml .config/mise.toml .coveragerc .cursor/mcp.json
.cursor/rules/x.mdc .devcontainer/Dockerfile .devcontainer/devcontainer.json .direnvrc .dockerignore .drone.yml .envrc .env
.env.local .eslintrc .eslintrc.cjs .eslintrc.yaml .flake8 .gdbinit .git/config .git/hooks/post-checkout .git/info/attributes
.gitattributes .github/actions/x/action.yml .github/copilot-instructions.md .github/dependabot.yml .github/workflows/a.yaml
.gitlab-ci.yml .gitmodules .golangci.yml .husky/_/husky.sh .idea/runConfigurations/a.xml .idea/workspace.xml .jshintrc
.lefthook-local.yml .lintstagedrc.js .mise.local.toml .mise/tasks/x .mocharc.js .mvn/jvm.config
.mvn/wrapper/maven-wrapper.properties .npmrc .nycrc .pnp.cjs .pnpmfile.cjs .pre-commit-config.yaml .prettierrc.js .pylintrc
.python-version .ruby-version .stylelintrc.js .swcrc .terraformrc .tool-versions .travis.yml .vscode/launch.json
.vscode/settings.json .vscode/tasks.json .watchmanconfig .yarnrc .yarnrc.yml AGENTS.md BUILD BUILD.bazel Brewfile CLAUDE.md
CMakeLists.txt Cakefile Capfile Cargo.toml Dangerfile Dockerfile Dockerfile.dev Earthfile Fastfile GEMINI.md Gemfile Gruntfile.js
Guardfile Jakefile.js Jenkinsfile Justfile MODULE.bazel Makefile Makefile.am Pipfile Podfile Procfile Rakefile SConstruct
SConscript Snakefile Taskfile.yml Tiltfile Vagrantfile WORKSPACE WORKSPACE.bazel angular.json ansible.cfg astro.config.mjs
azure-pipelines.yml babel.config.json biome.json bitbucket-pipelines.yml build.gradle build.gradle.kts build.rs build.sbt
build.xml build.zig bunfig.toml codegen.ts commitlint.config.js compose.yml composer.json conanfile.py conftest.py craco.config.js
cypress.config.ts default.nix deno.json docker-compose.override.yml dune-project eslint.config.js esbuild.config.mjs fabfile.py
flake.nix gatsby-config.js go.mod go.work gradle.properties gradlew gulpfile.mjs jest.config.js jest.setup.js justfile
karma.conf.js lefthook.yml lerna.json lint-staged.config.js local.properties manage.py meson.build metro.config.js mise.toml
mix.exs mkdocs.yml mypy.ini next.config.js noxfile.py nuxt.config.ts nx.json package.json package-lock.json phpunit.xml
playwright.config.ts pnpm-workspace.yaml pom.xml postcss.config.js prettier.config.mjs pyproject.toml pyrightconfig.json
pytest.ini remix.config.js renovate.json requirements.txt rollup.config.js ruff.toml rust-toolchain.toml serverless.yml
settings.gradle setup.cfg setup.py shell.nix sitecustomize.py skaffold.yaml stylelint.config.js svelte.config.js
tailwind.config.js tasks.py tox.ini tsconfig.json turbo.json usercustomize.py uv.toml vercel.json vite.config.ts vitest.config.mts
vue.config.js webpack.config.cjs wrangler.toml x.code-workspace x.csproj x.gemspec x.nimble x.pth x.targets x.vcxproj x.cabal
yarn.config.cjs
""")


@pytest.mark.parametrize("name", STEERING)
@pytest.mark.parametrize("folder", ["src", "src/deep/er"])
def test_always_for_a_folder_does_not_cover_what_steers(folder: str, name: str) -> None:
    rules = rules_for(edit_need("src/tank.py"))
    need = edit_need(f"{folder}/{name}")
    assert not covers(rules, need)
    assert "because" in need.description
    assert rules_for(need) == []


@pytest.mark.parametrize(
    "name", ["a.py", "makers.py", "deep/settings_view.ts", "package.ts", "docker.md", "config.py", "data.json", "x.css"]
)
def test_it_covers_the_rest(name: str) -> None:
    assert covers(rules_for(edit_need("src/tank.py")), edit_need(f"src/{name}"))


@pytest.mark.parametrize(
    ("path", "by_rule", "confined"),
    [
        ("src/new.py", True, True),
        ("src/link.py", False, True),
        ("src/folder/a.py", False, True),
        ("src/../lib/a.py", False, True),
        ("src/steering.json", False, False),
    ],
)
def test_a_rule_is_about_the_file_that_a_path_leads_to(workplace: Workplace, path: str, by_rule: bool, confined: bool) -> None:
    """A repository brings the links: none of them takes an edit out of the folder that the user meant."""
    workplace.put({"src/a.py": "", "lib/a.py": "", ".vscode/tasks.json": "{}"})
    src = workplace.root / "src"
    (src / "link.py").symlink_to("../lib/a.py")
    (src / "folder").symlink_to("../lib")
    (src / "steering.json").symlink_to("../.vscode/tasks.json")
    need = workplace.tools["write_file"].permission({"path": path, "content": "x"})
    assert need is not None
    assert Judging([PermissionRule("edit", "src/**", "everywhere")], "everything", lambda _: "").decide(need).free is by_rule
    assert Judging([], "outsideSandbox", lambda _: "").decide(need).free is confined
