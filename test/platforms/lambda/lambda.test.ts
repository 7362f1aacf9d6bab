import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { acceptance } from "../acceptance.ts";
import { lambdaFolder, startOffline } from "./offline.ts";
import { expect, test } from "vitest";
import { exportsOf } from "../shipped.ts";
import { byUrl } from "./events.ts";
import { openapi } from "../../../src/http/docs/openapi.gen.ts";

const deployment = fileURLToPath(new URL("../deployment.ts", import.meta.url));

acceptance(
  "a Lambda function, unpacked from its zip",
  async ({ env }) => {
    const folder = await lambdaFolder("serverless/lambda");
    await folder.writeEnv(env);
    await folder.write(
      "handler.ts",
      `import { sluice } from "sluice-queue/lambda";
    import { deployment } from ${JSON.stringify(deployment)};
    export const handler = sluice(deployment);`,
    );
    await folder.run(
      "npx esbuild handler.ts --bundle --platform=node --format=esm --outfile=build/handler.mjs",
    );
    await folder.run("npx osls package");
    await rm(join(folder.path, "build"), { recursive: true });
    // Offline there is no upload: the plugin gets the zip's path. The tests call its cron.
    const config = await readFile(join(folder.path, "serverless.yml"), "utf8");
    await folder.write(
      "serverless.yml",
      config
        .replace('  patterns: ["!**", "build/**"]', "  artifact: .serverless/sluice.zip")
        .replace("rate(1 minute)", "cron(0 0 1 1 ? *)")
        .concat("plugins: [serverless-offline]\n"),
    );
    return startOffline(folder, "sluice-dev-sluice");
  },
  { compresses: true },
);

test("the shipped handler is the service", async () => {
  interface Shipped {
    handler(event: object, context: object): Promise<{ body: string }>;
  }
  const { handler } = await exportsOf<Shipped>("serverless/lambda/handler.ts", "lambda");
  const { body } = await handler(byUrl({ path: "/openapi.json" }), {
    getRemainingTimeInMillis: () => 29_000,
  });
  expect(JSON.parse(body)).toEqual(openapi);
});
