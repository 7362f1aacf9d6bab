import { isNotFound, notInstalled, type OptionalPackage } from "../../optional-package.ts";

const imports: Readonly<Record<OptionalPackage, () => Promise<unknown>>> = {
  "@hono/node-server": () => import("@hono/node-server"),
  "@redis/client": () => import("@redis/client"),
};

/**
 * Checks that the optional packages of a command are installed. Call it before the command starts anything.
 * @param command such as `sluice dev`
 * @throws {SluiceError} `not_installed`; the message names all missing packages
 */
export async function requirePackages(command: string, names: readonly OptionalPackage[]): Promise<void> {
  const missing: OptionalPackage[] = [];
  for (const name of names) {
    try {
      await imports[name]();
    } catch (error) {
      if (!isNotFound(error, name)) throw error;
      missing.push(name);
    }
  }
  if (missing.length > 0) throw notInstalled(command, missing);
}
