import { invalidArgument } from "../../errors.ts";
import type { ObjectStore } from "./object-store.ts";

/** What `r2` uses of an R2 bucket's binding. */
export interface R2BucketBinding {
  put(key: string, value: Uint8Array, options: { readonly sha256: Uint8Array }): Promise<unknown>;
  get(key: string): Promise<{ arrayBuffer(): Promise<ArrayBuffer> } | null>;
  delete(keys: string[]): Promise<void>;
  list(options: {
    readonly prefix: string;
    readonly startAfter?: string;
    readonly limit: number;
  }): Promise<{ readonly objects: readonly { key: string; uploaded: Date }[]; readonly truncated: boolean }>;
}

/**
 * The store for `offload` in an R2 bucket, by its binding in a Worker.
 * @param bucket the binding, such as `env.PAYLOADS`
 * @throws {SluiceError} `invalid_argument` if the binding is missing
 * @example offload({ store: r2(env.PAYLOADS) })
 */
export function r2(bucket: R2BucketBinding): ObjectStore {
  if (typeof bucket?.put !== "function") {
    throw invalidArgument("bucket", "must be the binding of an R2 bucket, such as env.PAYLOADS");
  }
  return {
    async put(key, bytes, { sha256 }) {
      await bucket.put(key, bytes, { sha256 });
    },
    async get(key) {
      const object = await bucket.get(key);
      return object && new Uint8Array(await object.arrayBuffer());
    },
    delete: (keys) => bucket.delete([...keys]),
    async list(prefix, after) {
      const startAfter = after === undefined ? {} : { startAfter: after };
      const { objects, truncated } = await bucket.list({ prefix, limit: 1_000, ...startAfter });
      return {
        objects: objects.map(({ key, uploaded }) => ({ key, writtenAt: uploaded.getTime() })),
        next: truncated ? (objects.at(-1)?.key ?? null) : null,
      };
    },
  };
}
