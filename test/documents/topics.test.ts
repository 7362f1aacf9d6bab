import { expect, test, vi } from "vitest";
import { testDeployment } from "../../src/testing/index.ts";
import { filesOf } from "./code.ts";

const fileOf = filesOf(".");

test("the deployment of docs/topics.md gives an order to each queue that it says", async () => {
  const { GET } = (await fileOf("orders.ts")) as { readonly GET: Parameters<typeof testDeployment>[0] };
  const said: unknown[][] = [];
  vi.spyOn(console, "log").mockImplementation((...words) => void said.push(words));
  const deployed = testDeployment(GET);
  const buy = (order: number, region: string) =>
    deployed.fetch("/buy", { method: "POST", body: JSON.stringify({ order, region }) });
  await buy(1, "eu");
  await buy(2, "us");
  await buy(1, "eu");
  await deployed.run();
  vi.restoreAllMocks();
  expect(said.filter(([word]) => word === "bill").map(([, order]) => order)).toEqual([1, 2]);
  expect(said.filter(([word]) => word === "reserve")).toEqual([["reserve", 1]]);
  expect(said.filter(([word]) => word === "note").map((words) => words.at(-1))).toEqual([
    { region: "eu" },
    { region: "us" },
  ]);
});
