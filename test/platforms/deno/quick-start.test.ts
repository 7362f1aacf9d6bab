import { expect, it } from "vitest";
import { Project } from "../process/project.ts";
import { serverQuickStart } from "../process/quick-start.ts";

serverQuickStart({
  runtime: "deno",
  main: "main.ts",
  configuration: ["deno.json"],
  remote: /^(deno (add|deploy) |curl "?https:)/,
});

it("passes Deno's own type check", async () => {
  const project = await Project.open("examples/deno");
  try {
    await project.run("deno check main.ts");
    const typo = `import { serve } from "sluice-queue/deno"; await serve({ consumer: {} });`;
    await project.write("typo.ts", typo);
    await expect(project.run("deno check typo.ts")).rejects.toMatchObject({
      stderr: expect.stringContaining("'consumer' does not exist") as string,
    });
  } finally {
    await project.close();
  }
});

it("is the same for the service alone", async () => {
  const project = await Project.open("serverless/deno");
  try {
    await project.run("deno check main.ts");
  } finally {
    await project.close();
  }
});
