"""Ways out of the sandbox, each a piece of shell that is run in it.

A way that works says `OUT`, shows `CANARY`, or changes the world outside.

`$WORK` is the workspace folder, `$HOST_PID` a process outside, `$TCP` a port of 127.0.0.1 outside. Perl is there wherever Debian is.
"""

from __future__ import annotations

CANARY = "canary-6c1f"
"""Stands in everything that must not be read."""

_UNIX = "perl -MSocket -e 'socket(S,AF_UNIX,SOCK_STREAM,0) or die; connect(S,sockaddr_un($ARGV[0])) or die; print q(OUT)'"
_DATAGRAM = (
    "perl -MSocket -e 'socketpair(A,B,AF_UNIX,SOCK_DGRAM,0) or die $!; send(A,q(hello),0,sockaddr_un($ARGV[0])) or die $!; print q(OUT)'"
)
_TCP = "perl -MSocket -e 'socket(S,AF_INET,SOCK_STREAM,0); connect(S,sockaddr_in($ARGV[1],inet_aton($ARGV[0]))) or die; print q(OUT)'"
_CALL = "perl -e '@a=map {$_+0} @ARGV; $r=syscall(shift @a,@a); print $r<0 ? $! : qq(OUT $r)' --"
_OPENS = "perl -e 'for (@ARGV) { open(F,q(>>),$_) and print q(OUT ),$_ }' --"
"""For writing, and writes nothing."""

_X86 = "test $(uname -m) = x86_64 && "


def _reads(name: str) -> tuple[str, str]:
    return f"read ~/{name}", f'cat "$HOME/{name}"'


SECRET_FILES = (
    ".ssh/id_ed25519",
    ".ssh/config",
    ".aws/credentials",
    ".config/gcloud/credentials.db",
    ".azure/accessTokens.json",
    ".kube/config",
    ".docker/config.json",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".gnupg/private-keys-v1.d/a.key",
    ".config/gh/hosts.yml",
    ".mozilla/firefox/a/logins.json",
    ".config/google-chrome/Default/Cookies",
    ".local/share/keyrings/login.keyring",
    ".password-store/a.gpg",
    ".bash_history",
    ".vscode-server/data/User/globalStorage/state.vscdb",
    ".config/Code/User/globalStorage/state.vscdb",
    ".local/state/ullage/state.json",
    ".cargo/credentials.toml",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
    ".gitconfig",
    "Documents/letter.txt",
    "other-project/.env",
)
"""Written into the home folder before; the `.gitconfig` holds a token."""

READS = [
    *map(_reads, SECRET_FILES),
    ("read by a link that a command makes", 'ln -sfn "$HOME/.ssh" keys; cat keys/id_ed25519'),
    ("read by a link that the repository brings", "cat brought/id_ed25519"),
    ("read by the root of another process", "cat /proc/1/root$HOME/.ssh/id_ed25519 /proc/$HOST_PID/root$HOME/.ssh/id_ed25519"),
    ("read by the folder of another process", "cat /proc/*/cwd/../home/.ssh/id_ed25519"),
    ("read the environment outside", "cat /proc/$HOST_PID/environ /proc/1/environ | tr '\\0' '\\n' | grep SECRET_OUTSIDE"),
    ("read the environment of the server", "env | grep DATABASE_URL"),
    ("read the shared memory of others", "cat /dev/shm/ullage-canary"),
    ("read the temporary files of others", "cat /tmp/ullage-canary /var/tmp/ullage-canary"),
    ("read all there is", 'grep -rsI "canary-6c1f" /tmp /var/tmp /dev/shm /run "$HOME" --exclude-dir=work'),
    ("read the password hashes", "grep -q . /etc/shadow && echo OUT"),
    ("read the keys of the machine", "cat /etc/ssh/ssh_host_*_key /etc/ssl/private/* | grep -q . && echo OUT"),
    ("read the disk", "for disk in /dev/vda /dev/sda /dev/nvme0n1; do head -c 1 $disk | grep -q . && echo OUT; done"),
]

WRITES = [
    ("write to the system", "touch /usr/local/ullage-out && echo OUT"),
    ("write to the root folder", "touch /ullage-out && echo OUT"),
    ("open a file of the system for writing", "perl -e 'open(F,q(>>),q(/etc/passwd)) and print q(OUT)'"),
    ("remount the root folder", "mount -o remount,rw / && touch /usr/local/ullage-out && echo OUT"),
    ("remount with the flag of binds", "mount -o remount,bind,rw / && echo OUT"),
    ("mount over the workspace", 'mount --bind /etc "$WORK" && echo OUT'),
    ("mount a file system of its own", "mount -t tmpfs none /mnt && echo OUT"),
    ("unmount what guards", 'umount "$WORK/.git/config" && echo OUT; umount -l "$WORK/.vscode" && echo OUT'),
    ("a user namespace of its own", "unshare -Ur true && echo OUT"),
    ("a user namespace by the older call", f"{_X86}{_CALL} 56 268435473 0 0 0 0"),
    ("a mount namespace of its own", "unshare -m true && echo OUT"),
    ("enter the namespaces of the first process", "nsenter -t 1 -m -p true && echo OUT"),
    ("enter the namespaces outside", "nsenter -t $HOST_PID -m true && echo OUT"),
    ("another root folder", "chroot / true && echo OUT"),
    (
        "write what the kernel runs at a crash",
        f"{_OPENS} /proc/sys/kernel/core_pattern /proc/sys/kernel/modprobe /proc/sys/vm/overcommit_memory",
    ),
    ("ask the kernel by a key", f"{_OPENS} /proc/sysrq-trigger /proc/kcore /proc/kmsg"),
    (
        "set a release agent",
        f"{_OPENS} /sys/fs/cgroup/*/release_agent /sys/fs/cgroup/cgroup.procs /sys/kernel/uevent_helper /sys/power/state",
    ),
    ("make a device", "mknod disk b 254 0 && echo OUT"),
    ("write by a link", "ln -sfn /usr/local out; touch out/ullage-out && echo OUT"),
    ("write by a hard link", "ln /etc/hostname name && echo OUT"),
    ("move the workspace away", 'mv "$WORK" "$WORK-2" && echo OUT'),
    ("write to the startup file of the shell", 'echo x >> "$HOME/.bashrc"'),
    ("write where others cache", 'echo x > "$HOME/.cache/tool.py"'),
    ("write to shared places", "echo x > /tmp/ullage-out; echo x > /var/tmp/ullage-out; echo x > /dev/shm/ullage-out"),
    ("a program that runs as its owner", "cp /bin/sh owned; chmod 4755 owned"),
    ("a program made to run as its owner", "perl -MFcntl -e 'sysopen(F,q(owned2),O_CREAT|O_WRONLY,04755)'"),
    ("a program with capabilities", "cp /bin/sh capable; setcap cap_sys_admin+ep capable && echo OUT"),
    ("run as somebody else", "perl -e '$>=54321; $<=54321; print q(OUT) if $>==54321'"),
    ("all capabilities are gone", "grep -E 'Cap(Prm|Eff|Bnd)' /proc/self/status /proc/1/status | grep -vq '0000000000000000$' && echo OUT"),
    ("a process without the filter", "grep -h ^Seccomp: /proc/[0-9]*/status | grep -vq 2 && echo OUT"),
    ("privileges by a program of the system", "grep -h NoNewPrivs /proc/self/status | grep -vq 1 && echo OUT"),
]

SOCKETS = [
    ("a socket in the workspace", f'{_UNIX} "$WORK/service.sock"'),
    ("a socket in the temporary folder", f"{_UNIX} /tmp/ullage-canary.sock"),
    ("a socket in the home folder", f'{_UNIX} "$HOME/service.sock"'),
    ("any socket of the system", f'for s in $(find /run /var /tmp "$HOME" -type s 2>/dev/null); do {_UNIX} "$s"; done'),
    (
        "an abstract socket",
        "perl -MSocket -e 'socket(S,AF_UNIX,SOCK_STREAM,0) or die; connect(S,pack(q(Sa*),1,qq(\\0ullage-canary))) and print q(OUT)'",
    ),
    ("a datagram to a socket", f'{_DATAGRAM} "$WORK/datagram.sock"'),
    ("rings of input and output", f"{_CALL} 425 8 0"),
    ("the calls of another processor", f"{_X86}{_CALL} 1073741865 1 1 0"),
    ("a terminal of the user", "perl -e 'open(T,q(+<),q(/dev/tty)) or die; ioctl(T,0x5412,q(x)) and print q(OUT)'"),
    ("the agent of ssh", 'ssh-add -l && echo OUT; test -n "$SSH_AUTH_SOCK" && echo OUT'),
    ("tmux of the user", "tmux -S /tmp/ullage-canary.sock run-shell 'touch out' && echo OUT; test -n \"$TMUX\" && echo OUT"),
    ("the keyring", f"{_X86}{_CALL} 250 0 -3 1"),
    ("page faults by hand", f"{_X86}{_CALL} 323 0"),
    ("a program for the kernel", f"{_X86}{_CALL} 321 0 0 0"),
    ("other families of sockets", "for f in 17 29 30 31 38 40 44; do perl -e 'socket(S,$ARGV[0],3,0) and print q(OUT)' $f; done"),
    ("messages of the kernel", "perl -e 'for (3..25) { socket(S,16,3,$_) and print q(OUT) }'"),
]

NETWORK = [
    ("a server on this machine", f"{_TCP} 127.0.0.1 $TCP"),
    (
        "a server on this machine by its address",
        f"for ip in $(hostname -I 2>/dev/null) 172.17.0.1 169.254.169.254; do timeout 2 {_TCP} $ip $TCP; done",
    ),
    ("a server elsewhere", f"timeout 2 {_TCP} 1.1.1.1 443"),
    ("a name", "getent hosts example.org && echo OUT"),
    (
        "a datagram elsewhere",
        "perl -MSocket -e 'socket(S,AF_INET,SOCK_DGRAM,0); send(S,q(x),0,sockaddr_in(53,inet_aton(q(1.1.1.1)))) and print q(OUT)'",
    ),
    (
        "a second network device",
        "ip link add dummy0 type dummy && echo OUT; grep -vE 'lo:|Inter|face' /proc/net/dev | grep -q . && echo OUT",
    ),
]

PROCESSES = [
    ("end a process outside", "kill -0 $HOST_PID && echo OUT"),
    ("stop the first process and be free", "kill -STOP 1; kill -KILL 1; true"),
    (
        "outlive the call",
        "setsid sh -c 'exec -a ullage-outlives sleep 300' & (setsid perl -e '$0=q(ullage-outlives); fork and exit; sleep 300' &) ; true",
    ),
    ("see processes outside", "ls /proc | grep -x $HOST_PID | grep -q . && test $(grep -c . /proc/$HOST_PID/cmdline) -gt 0 && echo OUT"),
]

GUARDED = [
    (
        "the configuration of git",
        "git config core.fsmonitor ./evil; echo '[core] fsmonitor = ./evil' >> .git/config; sed -i s/a/b/ .git/config",
    ),
    ("a hook", "echo evil > .git/hooks/pre-commit; ln -sf evil .git/hooks/post-commit"),
    ("the folder of hooks exchanged", "mv .git/hooks .git/hooks2; rm -rf .git/hooks"),
    ("the repository exchanged", "mv .git .git2; rm -rf .git"),
    ("the folder that core.hooksPath names", "echo evil > scripts/hooks/pre-commit; mv scripts scripts2; rm -rf scripts"),
    ("a script that a hook of the configuration names", "echo evil > tools/monitor.sh; mv tools tools2"),
    ("settings of the editor", "echo evil > .vscode/settings.json; rm -rf .vscode; mv .vscode v"),
    ("the workspace file", "echo evil > a.code-workspace; rm -f a.code-workspace; mv a.code-workspace b"),
    ("husky's hooks", "echo evil > .husky/pre-commit; mv .husky h"),
    ("an environment file", "echo evil >> .envrc; rm .envrc; mv .envrc e"),
    ("another agent's settings", "echo evil > .claude/settings.json; mv .claude c"),
    ("what builds elsewhere", "echo evil > .github/workflows/ci.yml; mv .github g"),
    ("a repository below", "echo evil > sub/.git/config; mv sub/.git sub/g"),
    ("what agents obey", "echo evil >> AGENTS.md; mv AGENTS.md a"),
]

ALL = [*READS, *WRITES, *SOCKETS, *NETWORK, *PROCESSES, *GUARDED]
