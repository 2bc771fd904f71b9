/** Why there is no environment for the server, in words for the user, and what is to be done about it. Also the network that programs are told of. */

import { t } from "../l10n";
import { OLDEST_PYTHON } from "./python";
import { whereToGetPython } from "./pythonPlaces";

/** Its message is for the user. The log has the details. */
export class EnvironmentError extends Error {}

/** This Python is at fault: another may do. */
export class UselessPython extends EnvironmentError {}

/** No Python that is new enough. @param refused what is wrong with those that are there */
export function noPython(refused: readonly string[], platform: NodeJS.Platform): EnvironmentError {
  const version = OLDEST_PYTHON.join(".");
  const missing = t("Python {version} or newer was not found.", { version });
  const found = refused.length === 0 ? "" : ` ${t("Found: {found}.", { found: refused.join(", ") })}`;
  const advice = t('Or enter the path of one in the setting "Ullage › Server: Interpreter". Then restart.');
  return new EnvironmentError(`${missing}${found} ${whereToGetPython(platform)} ${advice}`);
}

/** What a program's output says of why it failed; undefined if it is nothing that we know. The first that fits counts. */
function known(output: string): string | undefined {
  const causes: [RegExp, () => string][] = [
    [
      /No space left on device|ENOSPC|Errno 28|(?:WinError|os error) (?:28|39|112)\b|not enough space on the disk|Disk quota exceeded|EDQUOT/i,
      () => t("The disk is full. The server's environment needs 200 MB. Make room, then restart the server."),
    ],
    [
      /\b407\b|Proxy Authentication Required|proxy authorization required/i,
      () =>
        t(
          'The proxy asks for a name and a password. Put them into the setting "Http: Proxy" (http://name:password@host:port) or into HTTPS_PROXY, then restart the server.',
        ),
    ],
    [
      /CERTIFICATE_VERIFY_FAILED|SSLError|invalid peer certificate|UnknownIssuer/i,
      () =>
        t(
          "The package index showed a certificate that Python does not trust, as some proxies of companies do. Name the file with its authority in PIP_CERT (for uv in SSL_CERT_FILE), then restart the server.",
        ),
    ],
    [
      /ProxyError|Cannot connect to proxy|tunnel (?:error|connection failed)|proxyconnect/i,
      () => t('The proxy could not be reached. Check the setting "Http: Proxy" and HTTPS_PROXY, then restart the server.'),
    ],
    [
      /hashes? (?:mismatch|do not match)|hash mismatch|bad magic|BadZipFile|Bad CRC/i,
      () => t("What was installed is not what was published: a file is damaged. Repair the environment, or install the extension again."),
    ],
    [
      /No matching distribution|Could not find a version|NewConnectionError|ConnectionError|name resolution|dns error|error sending request|timed out|getaddrinfo|Failed to fetch/i,
      () =>
        t(
          "The server's packages could not be downloaded. Check the network, or pip's proxy and index settings, then restart the server. The log has pip's output.",
        ),
    ],
    [
      /Permission denied|EACCES|EPERM|EROFS|Read-only file system|Access is denied|WinError 5\b/i,
      () => t("The server's environment could not be written: the folder of the extension's data is closed to writing. The log names it."),
    ],
  ];
  return causes.find(([pattern]) => pattern.test(output))?.[1]();
}

/** A Python could not make an environment. */
export function cannotMake(output: string): EnvironmentError {
  const cause = known(output);
  if (cause === undefined && /ensurepip/.test(output)) {
    return new UselessPython(
      t(
        "Python cannot make environments here: its venv module is incomplete. Install it (on Debian and Ubuntu the package python3-venv), then restart the server.",
      ),
    );
  }
  return cause === undefined
    ? new UselessPython(t("Python could not make an environment for the server. The log has its output."))
    : new EnvironmentError(cause);
}

/** The Python of the environment has no pip, and cannot get one. */
export function withoutPip(output: string): EnvironmentError {
  const missing = t(
    "The Python of the server's environment has no pip to install them with. Install uv, or Python's venv module (on Debian and Ubuntu the package python3-venv), then try again.",
  );
  return new EnvironmentError(known(output) ?? missing);
}

/** Packages could not be installed into an environment. */
export function cannotInstall(output: string): EnvironmentError {
  return new EnvironmentError(known(output) ?? t("The server's packages could not be installed. The log has pip's output."));
}

/** The same of psycopg: pip calls it a version that there is not where a system has no wheel of it. */
export function withoutWheel(output: string): EnvironmentError {
  const isMissing = /No matching distribution found for psycopg-binary|psycopg-binary.* has no wheels/i.test(output);
  const isOffline =
    /ConnectionError|name resolution|dns error|error sending request|timed out|getaddrinfo|Failed to fetch|ProxyError|SSLError/i;
  return isMissing && !isOffline.test(output)
    ? new EnvironmentError(
        t(
          'psycopg cannot be had for this Python on this system. Name a Python that has it in the setting "Ullage › Server: Interpreter"; on Windows for ARM that is one for x64.',
        ),
      )
    : cannotInstall(output);
}

/** All was installed, and yet the server does not start in it. */
export function doesNotRun(output: string): EnvironmentError {
  const cause = known(output);
  return cause === undefined
    ? new UselessPython(t("The server does not run with this Python. The log says why. Another Python can be named in the settings."))
    : new EnvironmentError(cause);
}

/** A file could not be written; an error that is something else stays what it is. */
export function ofFiles(error: unknown): unknown {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const cause = code === "" ? undefined : known(code);
  return error instanceof EnvironmentError || cause === undefined ? error : new EnvironmentError(cause);
}

/** VS Code's settings of the proxy. */
interface ProxySettings {
  /** `http.proxy`; empty if it is not set. */
  proxy: string;
  /** `http.noProxy`. */
  noProxy: readonly string[];
  /** `http.proxySupport`. */
  support: string;
}

/** Environment variables by which pip and uv go through the proxy of VS Code. Without the setting, those of the system count. */
export function proxyVariables(settings: ProxySettings): Record<string, string> {
  if (settings.support === "off" || settings.proxy === "") {
    return {};
  }
  const variables: Record<string, string> = { HTTPS_PROXY: settings.proxy, HTTP_PROXY: settings.proxy };
  if (settings.noProxy.length > 0) {
    variables.NO_PROXY = settings.noProxy.join(",");
  }
  return variables;
}

/** A text for the log: without the name and password of a proxy or an index. */
export function withoutPasswords(text: string): string {
  return text.replace(/(\w+:\/\/)[^\s/@]+@/g, "$1…@");
}
