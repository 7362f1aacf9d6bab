import { fileURLToPath } from "node:url";
import { onTestFinished, test } from "vitest";
import { getPlatformProxy } from "../../../tools/workerd/harness.ts";
import { r2, type R2BucketBinding } from "../../../src/features/offload/index.ts";
import { checkStore } from "../../features/offload/store-contract.ts";

test("a bucket of R2 keeps, lists and deletes objects", { timeout: 120_000 }, async () => {
  const configPath = fileURLToPath(new URL("r2.toml", import.meta.url));
  const { env, dispose } = await getPlatformProxy({ configPath, persist: false });
  onTestFinished(dispose);
  const { PAYLOADS } = env as { PAYLOADS: R2BucketBinding };
  // Each object costs a request of its own, so the pages are small.
  const bucket: R2BucketBinding = {
    put: (...args) => PAYLOADS.put(...args),
    get: (key) => PAYLOADS.get(key),
    delete: (keys) => PAYLOADS.delete(keys),
    list: (options) => PAYLOADS.list({ ...options, limit: 7 }),
  };
  await checkStore(r2(bucket), { many: 16, deleted: 10 });
});
