import { mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { invalidArgument } from "../../errors.ts";
import { newToken } from "../../kernel/names/ids.ts";
import type { ObjectPage, ObjectStore } from "./object-store.ts";

/** Longest name of a file, in characters. File systems allow 255 bytes. */
const MAX_NAME = 200;

/** Ends, with a token, the name of a file that is not written completely. No key has this character. */
const PARTIAL = "+";

const PARTIAL_NAME = /\+[A-Za-z0-9]{16}$/;

/** From this age on, ms, a file that is not written completely is what a crash has left. No write takes as long. */
const LONGEST_WRITE = 3_600_000;

const PAGE = 1_000;

/**
 * The store for `offload` in a folder, for development and for servers with one disk. An object is a file. To list
 * a page it reads the names of all files, so it is not for many objects. It then also removes the files that writes
 * left which a crash has ended.
 * @param path of the folder; it is created at the first write
 * @throws {SluiceError} `invalid_argument`
 * @example offload({ store: folder(".sluice/objects") })
 */
export function folder(path: string): ObjectStore {
  if (typeof path !== "string" || path === "") throw invalidArgument("path", "must be the path of a folder");
  const root = resolve(path);
  return {
    async put(key, bytes) {
      const file = join(root, pathOf(key));
      const partial = `${file}${PARTIAL}${newToken()}`;
      await mkdir(dirname(file), { recursive: true });
      try {
        await writeDurably(partial, bytes);
        await rename(partial, file);
      } catch (error) {
        await rm(partial, { force: true });
        throw error;
      }
    },
    async get(key, { signal }) {
      return orNull(readFile(join(root, pathOf(key)), { signal }).then((bytes) => new Uint8Array(bytes)));
    },
    async delete(keys) {
      for (const key of keys) await rm(join(root, pathOf(key)), { force: true });
    },
    async list(prefix, after = ""): Promise<ObjectPage> {
      const entries = (await orNull(readdir(root, { recursive: true, withFileTypes: true }))) ?? [];
      const files = entries.filter((entry) => entry.isFile());
      await removeOldPartials(files.map((entry) => join(entry.parentPath, entry.name)));
      const keys = files
        .filter((entry) => !entry.name.includes(PARTIAL))
        .map((entry) => keyOf(relative(root, join(entry.parentPath, entry.name))))
        .filter((key) => key.startsWith(prefix) && key > after)
        .toSorted((a, b) => (a < b ? -1 : 1));
      const page = keys.slice(0, PAGE);
      const found = await Promise.all(page.map((key) => orNull(stat(join(root, pathOf(key))))));
      return {
        objects: page.flatMap((key, i) => {
          const at = found[i]?.mtimeMs;
          return at === undefined ? [] : [{ key, writtenAt: at }];
        }),
        next: keys.length > PAGE ? (page.at(-1) ?? null) : null,
      };
    },
  };
}

/** Removes those of some files that are not written completely, and no longer will be. */
async function removeOldPartials(files: readonly string[]): Promise<void> {
  for (const file of files.filter((name) => PARTIAL_NAME.test(name))) {
    const found = await orNull(stat(file));
    if (found && Date.now() - found.mtimeMs > LONGEST_WRITE) await rm(file, { force: true });
  }
}

async function writeDurably(file: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(file, "wx");
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Null if the file or folder does not exist. */
async function orNull<T>(found: Promise<T>): Promise<T | null> {
  try {
    return await found;
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT") return null;
    throw error;
  }
}

/**
 * The path of an object. Capitals are escaped, because some file systems do not distinguish them. Long names are
 * folders in folders: all parts of a name but its last end with `=`.
 */
function pathOf(key: string): string {
  const names = key.replace(/[A-Z]/g, (letter) => `=${letter.toLowerCase()}`).split("/");
  return names
    .map((name) => name.match(new RegExp(`.{1,${MAX_NAME}}`, "g"))?.join(`==${sep}`) ?? "")
    .join(sep);
}

function keyOf(path: string): string {
  return path
    .replaceAll(`==${sep}`, "")
    .replaceAll(sep, "/")
    .replace(/=([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
