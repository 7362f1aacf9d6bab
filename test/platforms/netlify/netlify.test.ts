import { readFile } from "node:fs/promises";
import { acceptance } from "../acceptance.ts";
import { netlifyFolder, startNetlify } from "./local.ts";
import { expect, test } from "vitest";
import { exportsOf, forDocument } from "../shipped.ts";
import { openapi } from "../../../src/http/docs/openapi.gen.ts";

const deployment = new URL("../deployment.ts", import.meta.url);

acceptance("Netlify Functions, unpacked from the zips of a build", async ({ env }) => {
  const folder = await netlifyFolder("serverless/netlify");
  await folder.writeEnv(env);
  await folder.write("deployment.ts", await readFile(deployment, "utf8"));
  await folder.write(
    "netlify/functions/sluice.mts",
    `import { sluice } from "sluice-queue/netlify";
    import { deployment } from "../../deployment.ts";
    export const service = sluice(deployment);
    export default service.fetch;
    export const config = { path: "/*" };`,
  );
  await folder.run("npx netlify build --offline");
  const built = "NETLIFY_FUNCTIONS_SERVE_LOAD_DIST_FUNCTIONS=true npx netlify functions:serve --offline";
  return startNetlify(folder, built);
});

test("the shipped function is the service, at every path", async () => {
  interface Shipped {
    default(request: Request, context: object): Promise<Response>;
    readonly config: object;
  }
  const file = "serverless/netlify/netlify/functions/sluice.mts";
  const { default: answer, config } = await exportsOf<Shipped>(file, "netlify");
  expect(await (await answer(forDocument(), { waitUntil: () => {} })).json()).toEqual(openapi);
  expect(config).toEqual({ path: "/*" });
});
