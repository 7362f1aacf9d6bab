export type { Offload } from "./types.ts";
export type { ObjectPage, ObjectRequest, ObjectStore } from "./object-store.ts";
export { type ObjectOffload, offload, type OffloadOptions } from "./offload.ts";
export { r2, type R2BucketBinding } from "./r2.ts";
export { s3, type S3Credentials, type S3Options } from "./s3.ts";
