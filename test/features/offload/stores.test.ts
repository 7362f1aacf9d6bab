import { createServer, type IncomingMessage } from "node:http";
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { invalidArgument } from "../../../src/errors.ts";
import { folder } from "../../../src/features/offload/folder.ts";
import { offload, r2, s3, type R2BucketBinding } from "../../../src/features/offload/index.ts";
import { memoryStore } from "../../../src/testing/memory-store.ts";
import { listening } from "../../support/listening.ts";
import { checkStore, sha256, someBytes } from "./store-contract.ts";

async function emptyFolder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "sluice-objects-"));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** The names of all files in a folder and its folders. */
async function filesIn(path: string): Promise<string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(path, join(parentPath, name)));
}

/** The path with which a message begins, and the rest of it. */
const splitPath = (message: string): [string, string] => {
  const at = message.indexOf(" ");
  return [message.slice(0, at), message.slice(at + 1)];
};

const put = (key: string, store: ReturnType<typeof folder>) =>
  store.put(key, someBytes, { sha256: sha256(someBytes) });

test("a store in memory keeps, lists and deletes objects", () => checkStore(memoryStore()));

describe("a folder", () => {
  test("keeps, lists and deletes objects, and need not exist before", async () => {
    await checkStore(folder(join(await emptyFolder(), "new", "objects")));
  });

  test("does not list a file that was not written completely", async () => {
    const path = await emptyFolder();
    const store = folder(path);
    await put("s/q/a/N", store);
    await writeFile(join(path, "s", "q", "a", "=m+abc"), "half");
    expect((await store.list("s/", undefined, {})).objects.map(({ key }) => key)).toEqual(["s/q/a/N"]);
  });

  test("loses what crashed writes left an hour ago in a pass over orphans, and no other file", async () => {
    const path = await emptyFolder();
    const store = folder(path);
    const kept = ["notes+a.txt", "sluice/area/q/b/=n+0123456789ABCDEf", "sluice/area/q/a/=n"];
    const gone = ["sluice/area~position+0123456789ABCDEf", "sluice/area/q/a/=n+0123456789ABCDEf"];
    for (const name of [...kept, ...gone]) {
      await mkdir(dirname(join(path, name)), { recursive: true });
      await writeFile(join(path, name), "half");
      const at = Date.now() / 1_000 - (name === kept[1] ? 3_500 : 3_700);
      await utimes(join(path, name), at, at);
    }
    expect((await store.list("sluice/area/", undefined, {})).objects).toMatchObject([
      { key: "sluice/area/q/a/N" },
    ]);
    expect((await filesIn(path)).toSorted()).toEqual(kept.toSorted());
  });

  test("has no names that differ in case only, which some file systems take for the same", async () => {
    const path = await emptyFolder();
    const store = folder(path);
    for (const key of ["s/q/a/N", "s/q/A/N", "s/q/a/n"]) await put(key, store);
    const names = await readdir(path, { recursive: true });
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length);
  });

  test("leaves no file behind if a write fails", async () => {
    const path = await emptyFolder();
    await writeFile(join(path, "s"), "a file where a folder should be");
    await expect(put("s/q/a/N", folder(path))).rejects.toThrow();
    expect(await readdir(path)).toEqual(["s"]);
  });
});

const credentials = { accessKeyId: "S3RVER", secretAccessKey: "S3RVER" };

// test/platforms/lambda/s3.test.ts tests it with a server that speaks S3 and verifies signatures.
describe("S3", () => {
  test("signs the SHA-256 of what it writes, and the session token", async () => {
    const seen: IncomingMessage[] = [];
    const recorder = createServer((request, response) => {
      seen.push(request);
      request.resume().on("end", () => response.end());
    });
    const endpoint = `http://127.0.0.1:${await listening(recorder)}`;
    onTestFinished(() => void recorder.close());
    const temporary = { ...credentials, sessionToken: "SESSION" };
    await put("s/q/a/N", s3({ bucket: "b", region: "eu-central-1", credentials: temporary, endpoint }));
    expect(seen[0]?.headers).toMatchObject({
      "x-amz-content-sha256": Buffer.from(sha256(someBytes)).toString("hex"),
      "x-amz-security-token": "SESSION",
      authorization: expect.stringMatching(
        /Credential=S3RVER\/\d+\/eu-central-1\/s3\/aws4_request, SignedHeaders=.*x-amz-content-sha256;.*x-amz-security-token/,
      ) as string,
    });
  });

  test.each([
    [{ bucket: "a/b" }, "bucket must be a text of A-Z a-z 0-9 _ . -"],
    [{ region: undefined as never }, "region must be a text of A-Z a-z 0-9 _ . -"],
    [{ endpoint: "s3.example.com" }, "endpoint must be an http or https URL, without the bucket"],
    [{ credentials: { ...credentials, secretAccessKey: "" } }, "credentials.secretAccessKey must be a text"],
  ])("refuses %j", (options, message) => {
    const valid = { bucket: "payloads", region: "us-east-1", credentials };
    expect(() => s3({ ...valid, ...options })).toThrow(invalidArgument(...splitPath(message)));
  });
});

test.each([
  [() => folder(""), "path must be the path of a folder"],
  [
    () => r2(undefined as unknown as R2BucketBinding),
    "bucket must be the binding of an R2 bucket, such as env.PAYLOADS",
  ],
  [() => offload({ store: {} as never }), "store must be an object store, such as r2(), s3() or folder()"],
  [() => offload({ store: memoryStore(), over: 1_048_577 }), "over must be a whole number from 0 to 1048576"],
  [
    () => offload({ store: memoryStore(), maxBytes: 100_000_001 }),
    "maxBytes must be a whole number from 1 to 100000000",
  ],
])("a store or offload with an invalid option throws (%#)", (make, message) => {
  expect(make).toThrow(invalidArgument(...splitPath(message)));
});
