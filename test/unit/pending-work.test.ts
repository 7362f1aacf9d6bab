import { expect, test } from "vitest";
import { PendingWork } from "../../src/deploy/pending-work.ts";

test("pending work has settled after all of it has, including work that other work started", async () => {
  const [pendingWork, ended] = [new PendingWork(), [] as string[]];
  const work = async (name: string, then?: () => void) => {
    await new Promise((resolve) => setTimeout(resolve, 10));
    ended.push(name);
    then?.();
  };
  const third = () => pendingWork.add(work("third").then(() => Promise.reject(new Error("which fails"))));
  pendingWork.add(work("first", () => pendingWork.add(work("second", third))));
  await pendingWork.settled();
  expect(ended).toEqual(["first", "second", "third"]);
});
