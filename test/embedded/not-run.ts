const PASSWORD = "needs a password";

/**
 * What only a real redis-server can do. `npm run test:embedded` reports these tests as not run: whole files, or tests
 * by the beginning of their names with those of their groups. All other tests of its folders, and of `test/proofs/budget`,
 * `test/client`, `test/proofs/fault` and `test/http`, pass on the embedded store.
 */
export const notRun: readonly { readonly file: string; readonly test?: string; readonly reason: string }[] = [
  {
    file: "test/proofs/fault/restored.test.ts",
    reason: "needs snapshots, an append-only file and a replica",
  },
  {
    file: "test/http/events.test.ts",
    test: "Redis's refusal is answered as on any other route",
    reason: "needs a user without channels",
  },
  {
    file: "test/http/overview.test.ts",
    test: "GET /v1/diagnostics > has what Redis reports",
    reason: "needs what Redis says of its memory",
  },
  {
    file: "test/http/overview.test.ts",
    test: "GET /v1/queues/:queue/diagnostics > has sizes",
    reason: "needs what Redis says of its memory",
  },
  {
    file: "test/operate/health/stories.test.ts",
    test: "a database that is nearly full",
    reason: "needs what Redis says of its memory",
  },
  { file: "test/http/health.test.ts", reason: "needs a replica" },
  {
    file: "test/features/partitions/former.test.ts",
    test: "the search for foreign records goes on only in the same run of Redis",
    reason: "needs the number of a run of Redis",
  },
  {
    file: "test/features/partitions/by-name.test.ts",
    test: "a queue with partitions, by its name > is diagnosed as a whole",
    reason: "needs what Redis says of its memory",
  },
  {
    file: "test/http/problems.test.ts",
    test: "the faults of Redis > queue_full",
    reason: "needs a limit of memory",
  },
  { file: "test/http/problems.test.ts", test: "the faults of Redis > redis_unauthorized", reason: PASSWORD },
  {
    file: "test/http/problems.test.ts",
    test: "the faults of Redis > redis_not_writable",
    reason: "needs a minimum of replicas",
  },
  {
    file: "test/http/problems.test.ts",
    test: "every documented problem was seen above",
    reason: "needs the tests above that are not run",
  },
];
