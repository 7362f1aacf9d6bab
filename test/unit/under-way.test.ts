import { expect, test } from "vitest";
import { UnderWay } from "../../serverless/pending-work.ts";

test("pending work has settled after all of it has, including work that other work started", async () => {
  const [underWay, ended] = [new UnderWay(), [] as string[]];
  const work = async (name: string, then?: () => void) => {
    await new Promise((resolve) => setTimeout(resolve, 10));
    ended.push(name);
    then?.();
  };
  const third = () => underWay.add(work("third").then(() => Promise.reject(new Error("which fails"))));
  underWay.add(work("first", () => underWay.add(work("second", third))));
  await underWay.settled();
  expect(ended).toEqual(["first", "second", "third"]);
});
