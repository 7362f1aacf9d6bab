import { expect, test } from "vitest";
import { UnderWay } from "../../serverless/process/pending-work.ts";

test("what is under way has settled when all of it has, that included which other work has begun meanwhile", async () => {
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
