from __future__ import annotations

import pytest

from ullage.processes.environment import bare_environment, without_relative_entries


@pytest.mark.parametrize(
    ("name", "value", "kept"),
    [
        ("PATH", "/usr/bin:.:/bin", "/usr/bin:/bin"),
        ("PATH", ":/usr/bin:", "/usr/bin"),
        ("PATH", "./node_modules/.bin:/usr/bin", "/usr/bin"),
        ("PATH", ".", None),
        ("PATH", "", None),
        ("LD_LIBRARY_PATH", "/opt/lib:", "/opt/lib"),
        ("LD_PRELOAD", "./evil.so", None),
        ("LD_PRELOAD", "libjemalloc.so.2 /opt/a.so evil/b.so", "libjemalloc.so.2:/opt/a.so"),
        ("PYTHONPATH", ".", "."),
    ],
)
def test_lists_of_what_the_system_runs_hold_absolute_entries_alone(name: str, value: str, kept: str | None):
    assert without_relative_entries({name: value}).get(name) == kept


@pytest.mark.parametrize(
    "name",
    [
        *(
            "PATH",
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "DYLD_INSERT_LIBRARIES",
            "RIPGREP_CONFIG_PATH",
            "PYTHONPATH",
            "PYTHONSTARTUP",
            "PYTHONHOME",
        ),
        *("NODE_OPTIONS", "BASH_ENV", "ENV", "GIT_DIR", "GIT_CONFIG_GLOBAL", "GIT_EXTERNAL_DIFF", "ANTHROPIC_API_KEY", "SSH_AUTH_SOCK"),
    ],
)
def test_our_own_programs_get_none_of_it(name: str):
    assert bare_environment({name: "/x", "HOME": "/home/user", "SystemRoot": "C:\\Windows"}) == {
        "HOME": "/home/user",
        "SystemRoot": "C:\\Windows",
    }
