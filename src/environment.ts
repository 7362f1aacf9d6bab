/** `process.env`, or the `env` of a Worker, whose bindings need not be strings. */
export type Environment = Readonly<Record<string, unknown>>;

/** An environment of texts, such as `process.env`. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** The environment of the process; empty if there is none, as in a Worker without `nodejs_compat`. */
export function processEnvironment(): Variables {
  const { process } = globalThis as { process?: { env?: Variables } };
  return process?.env ?? {};
}
