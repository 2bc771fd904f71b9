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

_SYSCALL = "perl -e '$r=syscall({}); print $r<0 ? $! : qq(OUT $r)'"
"""With texts among the arguments."""

KERNEL = [
    ("read by the root of every process there is", "cat /proc/[0-9]*/root$HOME/.ssh/id_ed25519 /proc/[0-9]*/task/*/root$HOME/.netrc"),
    (
        "read by a descriptor that was left open",
        "for f in /proc/[0-9]*/fd/*; do test -f $f && head -c 4096 $f; test -d $f && ls $f/../.ssh && echo OUT; done 2>/dev/null",
    ),
    (
        "a program out of memory alone",
        _X86
        + "perl -e '$f=syscall(319,qq(x),0); open(I,q(<),q(/bin/cat)); open(O,q(>&=),$f); binmode O; local $/; print O <I>; "
        + "O->flush; system qq(/proc/$$/fd/$f), $ENV{HOME}.q(/.ssh/id_ed25519)'",
    ),
    ("a descriptor of a process outside", f"{_X86}{_CALL} 434 $HOST_PID 0"),
    ("trace a process outside", f"{_X86}{_CALL} 101 16 $HOST_PID 0 0; cat /proc/$HOST_PID/maps | grep -q . && echo OUT"),
    ("a file by its handle", f"{_X86}perl -e '$h=pack(q(IIQ),8,1,2); $r=syscall(304,-100,$h,0); print $r<0 ? $! : qq(OUT)'"),
    ("a mount by the newer calls", f"{_X86}{_SYSCALL.format('430,qq(tmpfs),0')}; {_SYSCALL.format('428,-100,qq(/),1')}"),
    ("an overlay over what only can be read", "mkdir -p u w; mount -t overlay none -o lowerdir=/etc,upperdir=u,workdir=w /etc && echo OUT"),
    ("control groups of its own", "mkdir /sys/fs/cgroup/ullage && echo OUT; mount -t cgroup2 none /mnt && echo OUT"),
    ("a namespace of its own by any flag", "for n in -i -n -p -u -C -T; do unshare $n true && echo OUT; done"),
    (
        "a namespace by the newest call",
        f"{_X86}perl -e '$a=pack(q(Q8),0x10000000,0,0,0,17,0,0,0); $r=syscall(435,$a,64); if ($r==0) {{exit}} print q(OUT) if $r>0'",
    ),
    (
        "the namespaces of a process outside by their files",
        "for n in user mnt pid net ipc; do nsenter --$n=/proc/$HOST_PID/ns/$n true && echo OUT; done",
    ),
    ("shared memory of System V", "perl -e 'print q(OUT) if defined shmget(0x756c6c61,0,0)'; ipcs -m | grep -qi 756c6c61 && echo OUT"),
    (
        "a terminal of the machine",
        "perl -e 'for (</dev/tty*>,</dev/pts/*>,q(/dev/console)) { open(T,q(+<),$_) and ioctl(T,0x541C,qq(\\3)) and print q(OUT) }'",
    ),
    ("type by the older name of the call", "perl -e 'for (0..2) { open(T,q(+<&=),$_) and ioctl(T,0x5412,q(x)) and print q(OUT) }'"),
    (
        "memory of the machine",
        "for d in /dev/mem /dev/kmem /dev/port /dev/kvm /dev/fuse /dev/net/tun /dev/vda; do test -e $d && exec 3<>$d && echo OUT; done",
    ),
    ("a module of the kernel", f"{_X86}{_CALL} 313 0 0 0; {_X86}{_CALL} 246 0 0 0 0"),
    ("the clock and the name of the machine", f"{_X86}{_SYSCALL.format('170,qq(ullage),6')}; date -s 2001-01-01 && echo OUT"),
    ("limits of another user's processes", "prlimit --pid $HOST_PID --nofile=1 && echo OUT; renice -n 19 -p $HOST_PID && echo OUT"),
    ("performance counters", f"{_X86}perl -e '$a=pack(q(IIQ14),1,120,(0)x14); $r=syscall(298,$a,-1,0,-1,0); print q(OUT) if $r>=0'"),
]

FILES = [
    (
        "hard links to secrets",
        'ln "$HOME/.ssh/id_ed25519" key && cat key; ln "$HOME/.bashrc" rc && echo x >> rc; ln /tmp/ullage-canary c && cat c',
    ),
    (
        "a link exchanged while it is written",
        (
            'for i in $(seq 99); do ln -sfn /usr/local d; ln -sfn "$WORK/src" d; done & '
            "for i in $(seq 99); do touch d/ullage-out; done 2>/dev/null; wait"
        ),
    ),
    (
        "a guarded file exchanged by its neighbour",
        "cp -r .git/hooks h; perl -e 'syscall(316,-100,q(h),-100,q(.git/hooks),2)'; perl -e 'rename q(h), q(.git/hooks)'",
    ),
    (
        "a guarded file by its other name",
        "for f in .git/config .vscode/settings.json AGENTS.md; do ln $f other && echo evil >> other; rm -f other; done",
    ),
    ("rights of guarded files", "chmod 777 .git/config .git/hooks .vscode && echo OUT; setfattr -n user.x -v y .git/config && echo OUT"),
    (
        "a file cut off by a mapping",
        "perl -e 'truncate(q(.git/config),0) and print q(OUT)'; : > .git/config; fallocate -p -l 10 .git/config && echo OUT",
    ),
    (
        "the repository by /proc",
        'echo evil >> "/proc/self/root$WORK/.git/config"; echo evil >> /proc/self/cwd/.git/config; touch /proc/1/root/usr/local/ullage-out',
    ),
    (
        "a hook where none was, below",
        "mv sub/.git sub/x; ln -sf ../evil sub/.git/config; touch y; mv -f y sub/.git/config",
    ),
    (
        "a display",
        f"{_UNIX} /tmp/.X11-unix/X977; for s in /run/user/*/bus /run/dbus/system_bus_socket /run/docker.sock; do {_UNIX} $s; done",
    ),
    (
        "a program of another user",
        "for p in sudo pkexec; do timeout 1 $p -n true && grep CapEff /proc/self/status | grep -vq 000000000000 && echo OUT; done",
    ),
]

ALL = [*READS, *WRITES, *SOCKETS, *NETWORK, *PROCESSES, *GUARDED, *KERNEL, *FILES]
