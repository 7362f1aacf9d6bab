import { afterEach, expect, test, vi } from "vitest";
import { testDeployment } from "sluice-queue/testing";
import app from "../../examples/search/worker.ts";
import { expectRow } from "../support/costs-page.ts";
import { outputShown } from "./shown.ts";

afterEach(() => void vi.restoreAllMocks());

/** The example in a database of its own, and the pages that it has indexed. */
function searched() {
  const indexed: string[] = [];
  vi.spyOn(globalThis, "fetch").mockImplementation(async (url) => {
    indexed.push(new URL(url as string).pathname.replace("/index/", ""));
    return new Response();
  });
  vi.spyOn(console, "info").mockImplementation(() => {});
  const deployment = testDeployment(app, { env: { SEARCH_URL: "https://search.test" } });
  const save = async (page: string) => {
    const response = await deployment.fetch(`/pages/${page}`, { method: "PUT" });
    return ((await response.json()) as { outcome: string }).outcome;
  };
  return { deployment, indexed, save };
}

test("a page that is saved many times is indexed once, when it has not changed for five seconds", async () => {
  const { deployment, indexed, save } = searched();
  expect(await save("home")).toBe("created");
  for (let second = 0; second < 20; second++) {
    await deployment.advance("1s");
    expect(await save("home")).toBe("replaced");
  }
  await save("about");
  expect(indexed).toEqual([]);
  await deployment.advance("6s");
  expect(indexed.toSorted((a, b) => a.localeCompare(b))).toEqual(["about", "home"]);
  expect(await save("home")).toBe("created");
});

test("a page that changes all the time is indexed once a minute", async () => {
  const { deployment, indexed, save } = searched();
  for (let second = 0; second < 150; second++) {
    await save("home");
    await deployment.advance("1s");
  }
  expect(indexed).toEqual(["home", "home"]);
});

test("it costs what its README and docs/costs.md say", async () => {
  const lines: string[] = [];
  vi.spyOn(console, "info").mockImplementation(() => {});
  vi.spyOn(console, "log").mockImplementation((line) => void lines.push(`${line}\n`));
  await import("../../examples/search/run.ts");
  expect(lines.join("")).toBe(outputShown("search"));
  const [, commands = ""] = /(\d+) billed commands an edit/.exec(lines.join("")) ?? [];
  expectRow("a search index", 10_000, Number(commands));
});
