import { acceptance } from "./acceptance.ts";
import { startProject } from "./vercel/project.ts";

const configuration = "serverless/vercel/vercel.json";
const entry = "test/runtime/vercel/function.ts";

for (const runtime of ["edge", "nodejs"] as const) {
  acceptance(`a Vercel Function in the ${runtime} runtime`, ({ env }) =>
    startProject({ configuration, entry, runtime, env }),
  );
}
