/**
 * What only a real redis-server can do. `npm run test:embedded` reports these tests as not run: files by their path,
 * tests by the beginning of their full names. All other tests of its folders must pass on the embedded store.
 */
export const notRun: readonly { readonly file: string; readonly test?: string; readonly reason: string }[] = [
  { file: "test/fault/redis-killed.test.ts", reason: "needs an append-only file" },
  { file: "test/fault/replica-promoted.test.ts", reason: "needs a replica" },
  { file: "test/fault/snapshot.test.ts", reason: "needs the snapshots of Redis and its append-only file" },
];
