import { invalidArgument } from "./errors.ts";

/** `process.env`, or the `env` of a Worker, whose bindings need not be strings. */
export type Environment = Readonly<Record<string, unknown>>;

/** An environment of texts, such as `process.env`. */
export type Variables = Readonly<Record<string, string | undefined>>;

/**
 * A variable without the blanks and newlines around it; undefined if nothing is left, or it is not set. In an
 * environment that was read from a file with a byte order mark, the first name begins with that.
 * @throws {SluiceError} `invalid_argument` if it is not a text
 */
export function variable(env: Environment, name: string): string | undefined {
  const value = env[name] ?? env[`\uFEFF${name}`] ?? "";
  if (typeof value !== "string") throw invalidArgument(name, "must be a string");
  return value.trim() || undefined;
}

/** As {@link variable}, of the process; undefined also if it may not be read, as in Deno by default. */
export function processVariable(name: string): string | undefined {
  try {
    return variable(processEnvironment(), name);
  } catch {
    return undefined;
  }
}

/** The environment of the process; empty if there is none, as in a Worker without `nodejs_compat`. */
export function processEnvironment(): Variables {
  const { process } = globalThis as { process?: { env?: Variables } };
  return process?.env ?? {};
}

interface Builtin {
  readonly "node:async_hooks": typeof import("node:async_hooks");
  readonly "node:crypto": typeof import("node:crypto");
  readonly "node:dns": typeof import("node:dns");
  readonly "node:http": typeof import("node:http");
  readonly "node:https": typeof import("node:https");
}

/**
 * A module of Node, if the runtime has it. Bundlers do not follow this, so that a bundle runs on every platform.
 * Never throws, as `process.getBuiltinModule` itself does in Edge functions of Next.js.
 */
export function builtinModule<Name extends keyof Builtin>(name: Name): Builtin[Name] | undefined {
  try {
    return globalThis.process?.getBuiltinModule?.(name);
  } catch {
    return undefined;
  }
}
