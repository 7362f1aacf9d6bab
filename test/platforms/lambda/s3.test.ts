import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SluiceError } from "../../../src/errors.ts";
import type { ObjectStore } from "../../../src/features/offload/object-store.ts";
import { s3 } from "../../../src/features/offload/index.ts";
import { checkStore, sha256, someBytes } from "../../features/offload/store-contract.ts";
import { credentials, startS3 } from "./s3-server.ts";

const put = (key: string, store: ObjectStore) => store.put(key, someBytes, { sha256: sha256(someBytes) });

describe("S3", () => {
  let server: Awaited<ReturnType<typeof startS3>>;
  beforeAll(async () => {
    server = await startS3();
  });
  afterAll(() => server.stop());
  const store = (options: Partial<Parameters<typeof s3>[0]> = {}) =>
    s3({ bucket: "payloads", region: "us-east-1", credentials, endpoint: server.endpoint, ...options });

  test("keeps, lists and deletes objects", { timeout: 120_000 }, () =>
    checkStore(store(), { idLength: 60, fill: server.fill, deleted: 50 }),
  );

  test("takes the current credentials before each request", async () => {
    const given = [credentials, { ...credentials, secretAccessKey: "old" }];
    const rotating = store({ credentials: async () => given.shift() ?? credentials });
    await put("s/q/a/N", rotating);
    const refused = put("s/q/a/N", rotating);
    await expect(refused).rejects.toEqual(
      new SluiceError(
        "offload_failed",
        "the object store refused a request: PUT got HTTP 403 (SignatureDoesNotMatch)",
      ),
    );
  });

  test("says if the bucket does not exist, which is not a missing object", async () => {
    const none = store({ bucket: "none" });
    const error = (method: string) =>
      new SluiceError(
        "offload_failed",
        `the object store refused a request: ${method} got HTTP 404 (NoSuchBucket)`,
      );
    await expect(none.get("s/q/a/N", {})).rejects.toEqual(error("GET"));
    await expect(put("s/q/a/N", none)).rejects.toEqual(error("PUT"));
    await expect(none.list("s/", undefined, {})).rejects.toEqual(error("GET"));
  });
});
