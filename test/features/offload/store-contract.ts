import { createHash } from "node:crypto";
import { expect } from "vitest";
import type { ObjectStore } from "../../../src/features/offload/object-store.ts";

export const sha256 = (bytes: Uint8Array) => new Uint8Array(createHash("sha256").update(bytes).digest());

/** Every byte value, several times. */
export const someBytes = Uint8Array.from({ length: 1_000 }, (_, i) => i % 256);

const keys = (objects: readonly { readonly key: string }[]) => objects.map(({ key }) => key);

/** All keys of a prefix, page by page. */
async function allKeys(store: ObjectStore, prefix: string): Promise<string[]> {
  const found: string[] = [];
  for (let after: string | undefined; ;) {
    const page = await store.list(prefix, after, {});
    found.push(...keys(page.objects));
    if (page.next === null) return found;
    after = page.next;
  }
}

function slices(names: readonly string[], size: number): string[][] {
  return Array.from({ length: Math.ceil(names.length / size) }, (_, i) =>
    names.slice(i * size, (i + 1) * size),
  );
}

interface CheckOptions {
  readonly idLength?: number;
  readonly many?: number;
  readonly fill?: (keys: readonly string[]) => Promise<unknown>;
  readonly deleted?: number;
}

/**
 * Does with an empty store all that `offload` does with one.
 * @param options.idLength how many characters the longest id has. Default: as many as an id can have
 * @param options.many how many objects are more than a page. Default: 1,005
 * @param options.fill writes many objects. Default: by the store
 * @param options.deleted how many one request deletes. Default: as many as it may
 */
export async function checkStore(
  store: ObjectStore,
  { idLength = 128, many = 1_005, fill, deleted = 1_000 }: CheckOptions = {},
): Promise<void> {
  const put = (key: string, bytes = someBytes) => store.put(key, bytes, { sha256: sha256(bytes) });
  expect(await store.list("s/", undefined, {})).toEqual({ objects: [], next: null });
  expect(await store.get("s/q/none/N", {})).toBeNull();
  await store.delete(["s/q/none/N"], {});

  // Names that differ in case only, that need escapes, and the longest that there are.
  const long = "~3a".repeat(idLength);
  const names = ["s/q/a/N", "s/q/A/N", "s/q/a/n", "s/q/x~2fy/N", `s/r.1-_/${long}/N`, "s~owner", "t/q/a/N"];
  const before = Date.now();
  for (const [i, name] of names.entries()) await put(name, Uint8Array.of(i));
  for (const [i, name] of names.entries()) expect(await store.get(name, {})).toEqual(Uint8Array.of(i));
  await put("s/q/a/N", someBytes);
  expect(await store.get("s/q/a/N", {})).toEqual(someBytes);
  await put("s/q/empty/N", new Uint8Array());
  expect(await store.get("s/q/empty/N", {})).toEqual(new Uint8Array());

  const page = await store.list("s/", undefined, {});
  const expected = ["s/q/A/N", "s/q/a/N", "s/q/a/n", "s/q/empty/N", "s/q/x~2fy/N", `s/r.1-_/${long}/N`];
  expect(keys(page.objects)).toEqual(expected);
  expect(page.next).toBeNull();
  // Clocks of file systems and of S3 are coarse.
  expect(
    page.objects.filter(({ writtenAt }) => writtenAt < before - 60_000 || writtenAt > Date.now() + 60_000),
  ).toEqual([]);
  expect(keys((await store.list("s/", "s/q/a/N", {})).objects)).toEqual(expected.slice(2));

  await store.delete(["s/q/a/N", "s/q/A/N", "s/q/none/N"], {});
  expect(await store.get("s/q/a/N", {})).toBeNull();
  expect(await allKeys(store, "s/")).toEqual(
    expected.filter((name) => name !== "s/q/a/N" && name !== "s/q/A/N"),
  );

  const numbered = Array.from({ length: many }, (_, i) => `u/q/${String(i).padStart(4, "0")}/N`);
  if (fill) await fill(numbered);
  else for (const some of slices(numbered, 50)) await Promise.all(some.map((name) => put(name)));
  expect(await allKeys(store, "u/")).toEqual(numbered);
  await store.delete(numbered.slice(0, deleted), {});
  expect(await allKeys(store, "u/")).toEqual(numbered.slice(deleted));
}
