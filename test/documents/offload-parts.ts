// The other code of docs/offload.md, so that it is type checked. configurations.test.ts compares it.

import type { Transport } from "sluice-queue";
import { offload, r2, type R2BucketBinding } from "sluice-queue/offload";

declare const transport: Transport;
declare const env: { readonly PAYLOADS: R2BucketBinding };
declare const [accessKeyId, secretAccessKey]: [string, string];

import { Queue, sweep } from "sluice-queue";

const large = offload({ store: r2(env.PAYLOADS) });
const reports = new Queue("reports", { transport, offload: large });
await sweep(transport, { offload: large });

import { s3 } from "sluice-queue/offload";
import { folder } from "sluice-queue/offload/folder";

const inS3 = s3({
  bucket: "payloads",
  region: "eu-central-1",
  credentials: { accessKeyId, secretAccessKey },
});
const onDisk = folder(".sluice/objects");

import { serve } from "sluice-queue/node";

await serve({ offload: () => offload({ store: onDisk }) });

export { inS3, reports };
