// The tests of `npm run test:fast`: under a minute on two cores, and the first to notice most faults.

export const fastTier = [
  "test/unit",
  "test/contract",
  "test/budget",
  "test/integration/tasks/life-cycle.test.ts",
  "test/model",
];
