// The tests of `npm run test:fast`: under a minute on two cores, and the first to notice most faults.

export const fastTier = [
  "test/unit",
  "test/contract",
  "test/proofs/budget",
  "test/kernel/life-cycle.test.ts",
  "test/proofs/model",
];
