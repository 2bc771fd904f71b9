/**
 * What is in force of the settings that the manifest declares. No VS Code in here.
 *
 * VS Code lets a workspace set no setting of the machine, but it compares whole names. What a workspace writes below such a name
 * (`ullage.mcp.servers.mine.command`) or above it (`"ullage.model": null`) passes, and is mixed into the user's value. So here the user's value is
 * taken by itself.
 */

/** The id of this extension. */
export const EXTENSION = "ullage.ullage";

/** A setting in the manifest (`contributes.configuration`). */
export interface DeclaredSetting {
  readonly scope?: string;
  readonly type?: string | readonly string[];
}

/** What the editor knows of settings, by their names without `ullage.`; the empty name is all of them. */
export interface KnownSettings {
  /** The value in force, workspaces included. */
  get: (name: string) => unknown;
  /** The user's own value, or the default. */
  inspect: (name: string) => { readonly globalValue?: unknown; readonly defaultValue?: unknown } | undefined;
}

const THE_USERS_ALONE = new Set(["machine", "application"]);

/** The value of a setting that is in force. One of the machine is the user's, and a workspace gives no other one a shape that it has not. */
export function valueInForce(name: string, declared: DeclaredSetting, known: KnownSettings): unknown {
  const value = known.get(name);
  const isThere = value !== undefined && value !== null && (declared.type === "object" || !isObject(value));
  if (isThere && !THE_USERS_ALONE.has(declared.scope ?? "")) {
    return value;
  }
  const found = known.inspect(name);
  return found?.globalValue ?? found?.defaultValue;
}

/** All that is in force, as nested objects. What the user has set that is no setting is there, too, so that it is told of. */
export function sectionInForce(declared: ReadonlyMap<string, DeclaredSetting>, known: KnownSettings): Record<string, unknown> {
  const own = copyOf(known.inspect("")?.globalValue);
  const section: Record<string, unknown> = isObject(own) ? own : {};
  for (const [name, setting] of declared) {
    put(section, name.split("."), valueInForce(name, setting, known));
  }
  return section;
}

/** The settings that a manifest declares, by their names without `ullage.`. */
export function declaredIn(manifest: unknown): ReadonlyMap<string, DeclaredSetting> {
  const { configuration } = (manifest as { contributes: { configuration: readonly { properties: Record<string, DeclaredSetting> }[] } })
    .contributes;
  return new Map(
    configuration.flatMap(({ properties }) =>
      Object.entries(properties).map(([name, setting]) => [name.replace(/^ullage\./, ""), setting]),
    ),
  );
}

/** Where something else than a group stands in the way, it stays: it is the user's, and the server tells of it. */
function put(section: Record<string, unknown>, [first = "", ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    section[first] = value;
    return;
  }
  section[first] ??= {};
  const group = section[first];
  if (isObject(group)) {
    put(group, rest, value);
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function copyOf(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
