import { SluiceError } from "./errors.ts";

/** The optional peers that are imported at first use, each with the major version that works. */
const MAJOR = { "@hono/node-server": 2, "@redis/client": 6 };

export type OptionalPackage = keyof typeof MAJOR;

/**
 * The error for optional packages that a feature needs and that are not installed.
 * @param feature what needs the packages: the subject of the message
 */
export function notInstalled(feature: string, names: readonly OptionalPackage[]): SluiceError {
  const [are, them] = names.length === 1 ? ["is", "it"] : ["are", "them"];
  const versions = names.map((name) => `${name}@${MAJOR[name]}`).join(" ");
  return new SluiceError(
    "not_installed",
    `${feature} needs ${names.join(" and ")}, which ${are} not installed; add ${them}: npm install ${versions}`,
  );
}

/** Whether an import failed because the package itself was not found, on Node, Deno, Bun, or in a bundle. */
export function isNotFound(error: unknown, name: OptionalPackage): boolean {
  // Any value can be thrown, even undefined.
  const { code, message } = Object(error) as { readonly code?: unknown; readonly message?: unknown };
  return (
    /^(?:ERR_)?MODULE_NOT_FOUND$/.test(String(code)) && new RegExp(`['"]${name}['"]`).test(String(message))
  );
}

/**
 * Handles a failed import of an optional package. The import itself is written where the package is used, so
 * that bundlers see it and, because it is caught, do not require it.
 * @example import("@redis/client").catch(orNotInstalled("@redis/client", "resp()"))
 */
export function orNotInstalled(name: OptionalPackage, feature: string): (error: unknown) => never {
  return (error) => {
    throw isNotFound(error, name) ? notInstalled(feature, [name]) : error;
  };
}
