"""Options that stand before the subcommand of a program (`git -C x push`, `npm --prefix x publish`), for rules that refuse. Pure.

Such a command is the one that is meant, in another folder or with another setting. A rule that *allows* takes no notice of this: what it
spells out has to stand there, so it never lets anything run in another folder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


@dataclass(frozen=True, slots=True)
class Leading:
    """The options that may stand before the subcommand of one program."""

    valued: frozenset[str] = frozenset()
    """Options whose value is the next word."""
    plain: frozenset[str] | None = None
    """Options without a value; None if all others have none. An option in neither set may have a value or not."""


_NPM = Leading(
    _names(
        "--prefix -C -w --workspace --userconfig --globalconfig --cache --registry --loglevel --tag --otp --access --scope --script-shell"
    ),
    _names("-g --global -s --silent -q --quiet -d --verbose --workspaces --ws --offline --yes -y --force -f --json --no-audit --no-fund"),
)

_PNPM = Leading(
    _names("-C --dir -F --filter --filter-prod --config --loglevel --reporter --registry --store-dir --workspace-concurrency"),
    _names("-r --recursive -w --workspace-root -s --silent --stream --color --no-color --offline --parallel --aggregate-output"),
)

_LEADING: Mapping[str, Leading] = {
    "git": Leading(
        _names("-C -c --git-dir --work-tree --namespace --super-prefix --config-env --attr-source --exec-path"),
        _names(
            """
            -p -P --paginate --no-pager --bare --no-replace-objects --no-lazy-fetch --no-optional-locks --no-advice --literal-pathspecs
            --glob-pathspecs --noglob-pathspecs --icase-pathspecs --html-path --man-path --info-path -v --version -h --help
            """
        ),
    ),
    "npm": _NPM,
    "pnpm": _PNPM,
    "yarn": Leading(
        _names("--cwd --cache-folder --modules-folder --registry --use-yarnrc --mutex"), _names("-s --silent --verbose --offline")
    ),
    "bun": Leading(_names("--cwd -c --config --env-file --filter"), _names("--silent --verbose -b --bun")),
    "docker": Leading(
        _names(
            """
            -c --context --config -H --host -l --log-level --tlscacert --tlscert --tlskey -f --file -p --project-name --profile --env-file
            --project-directory --ansi --progress --parallel --builder
            """
        ),
        _names("-D --debug --tls --tlsverify --compatibility --dry-run --all-resources"),
    ),
    "cargo": Leading(
        _names("-C --config -Z --color --manifest-path --target-dir"), _names("-q --quiet -v -vv --verbose --locked --offline --frozen")
    ),
    "go": Leading(_names("-C"), None),
    "kubectl": Leading(
        _names(
            """
            -n --namespace --context --cluster --user --kubeconfig -s --server --as --as-group --as-uid --token --request-timeout -v --v
            --certificate-authority --client-certificate --client-key --cache-dir --tls-server-name --username --password --profile
            --profile-output --vmodule --log-flush-frequency
            """
        ),
        None,
    ),
    "helm": Leading(
        _names(
            """
            -n --namespace --kube-context --kubeconfig --kube-apiserver --kube-as-group --kube-as-user --kube-ca-file --kube-token
            --registry-config --repository-cache --repository-config --burst-limit --qps --kube-tls-server-name
            """
        ),
        None,
    ),
    "gh": Leading(_names("-R --repo --hostname"), None),
    "terraform": Leading(frozenset(), None),
    "make": Leading(
        _names("-C --directory -f --file --makefile -I --include-dir -o --old-file -W --what-if --new-file"),
        _names("-B --always-make -d -e -i -k -n -q -r -R -s --silent --quiet -S -t -w --trace --dry-run --keep-going"),
    ),
    "uv": Leading(
        _names("--directory --project --config-file --cache-dir --color --python -p --allow-insecure-host"),
        _names("-q --quiet -v --verbose --offline --no-progress --no-config -n --no-cache --native-tls --no-python-downloads"),
    ),
    "poetry": Leading(_names("-C --directory -P --project"), None),
    "mvn": Leading(_names("-f --file -s --settings -pl --projects -P --activate-profiles -T --threads -gs -t -l -D"), None),
    "gradle": Leading(_names("-p --project-dir -b --build-file -c --settings-file -g -I --init-script --max-workers --console"), None),
    "systemctl": Leading(_names("-H --host -M --machine -t --type --state -p --property -s --signal -n --lines -o --output --root"), None),
    "aws": Leading(
        _names("--profile --region --output --endpoint-url --query --color --ca-bundle --cli-read-timeout --cli-connect-timeout"), None
    ),
    "hg": Leading(_names("-R --repository --cwd --config --encoding --color --pager"), None),
}
"""What may lead in each program, by its help or manual. `terraform` takes `-chdir=x` only. In a program that is not here, the word behind
an option may be its value or not."""

_ALIASES = {"docker-compose": "docker", "podman": "docker", "nerdctl": "docker", "gradlew": "gradle", "mvnw": "mvn", "gmake": "make"}

_EITHER = Leading(frozenset(), frozenset())


def behind_options(program: str, words: Sequence[str], start: int) -> set[int]:
    """The indices of the words at which the subcommand may stand: `start`, and behind the options that begin there. `program` is its name
    without a folder."""
    leading = _LEADING.get(_ALIASES.get(program, program), _EITHER)
    found, waiting = {start}, [start]
    while waiting:
        at = waiting.pop()
        for following in _following(leading, words, at):
            if following <= len(words) and following not in found:
                found.add(following)
                waiting.append(following)
    return found


def _following(leading: Leading, words: Sequence[str], at: int) -> tuple[int, ...]:
    """The indices at which the word behind the option may stand; empty if there is no option at that index."""
    word = words[at] if at < len(words) else ""
    if word.startswith("+") and len(word) > 1:  # a toolchain of `cargo`
        return (at + 1,)
    if not word.startswith("-") or word == "-":
        return ()
    if word in leading.valued:
        return (at + 2,)
    has_its_value = "=" in word or (not word.startswith("--") and word[:2] in leading.valued)
    if has_its_value or leading.plain is None or word in leading.plain:
        return (at + 1,)
    return at + 1, at + 2
