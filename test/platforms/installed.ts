import { cp, mkdir, readFile, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../", import.meta.url));

const own = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
};
export const { version } = own;
export const optionalPackages = Object.keys(own.peerDependencies);

/**
 * Installs the package as it is published, from what `npm run build` has built.
 * @param modules a folder `node_modules`
 * @param beside packages of the root that are installed beside it
 */
export async function installPackage(modules: string, beside: readonly string[]): Promise<void> {
  const path = join(modules, "sluice-queue");
  await cp(join(root, "dist"), join(path, "dist"), { recursive: true });
  await cp(join(root, "package.json"), join(path, "package.json"));
  for (const name of Object.keys(own.dependencies)) await link(name, join(path, "node_modules"));
  for (const name of beside) await link(name, modules);
  await mkdir(join(modules, ".bin"), { recursive: true });
  await symlink("../sluice-queue/dist/cli.js", join(modules, ".bin/sluice"));
}

/** Links an installed package into another folder of packages. */
export async function link(name: string, modules: string, from = root): Promise<void> {
  const place = join(modules, name);
  await mkdir(dirname(place), { recursive: true });
  await symlink(join(from, "node_modules", name), place);
}
