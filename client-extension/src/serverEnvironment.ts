/** The environment variables that the server process gets. No VS Code in here. */

/**
 * The editor's own environment without what only concerns the editor (a command that the agent runs must not inherit
 * `ELECTRON_RUN_AS_NODE`), and with the API key, which travels by no other way. A key that the user stored wins over an inherited one.
 */
export function serverEnvironment(inherited: NodeJS.ProcessEnv, apiKey: string | undefined): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(inherited)) {
    if (value !== undefined && !/^(ELECTRON_|VSCODE_)/.test(name)) {
      env[name] = value;
    }
  }
  if (apiKey !== undefined) {
    env.ANTHROPIC_API_KEY = apiKey;
  }
  return env;
}
