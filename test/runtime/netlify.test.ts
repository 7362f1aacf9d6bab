import { readFile } from "node:fs/promises";
import { acceptance } from "./acceptance.ts";
import { netlifyFolder, startNetlify } from "./netlify.ts";

const deployment = new URL("deployment.ts", import.meta.url);

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
