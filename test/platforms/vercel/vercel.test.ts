import { describe, expect, it } from "vitest";
import { asker } from "../../http/served.ts";
import { acceptance, openPlace } from "../acceptance.ts";
import { expectLongWorkDone } from "../long-work.ts";
import { startProject } from "./project.ts";
import { exportsOf, forDocument, unused } from "../shipped.ts";
import { openapi } from "../../../src/http/docs/openapi.gen.ts";

const configuration = "serverless/vercel/vercel.json";

for (const runtime of ["edge", "nodejs"] as const) {
  const entry = "test/platforms/vercel/function.ts";
  acceptance(`a Vercel Function in the ${runtime} runtime`, ({ env }) =>
    startProject({ configuration, entry, runtime, env }),
  );
}

describe("a Vercel Function with a wake address", () => {
  it.each(["edge", "nodejs"] as const)(
    "goes on in further invocations if the work takes longer than one may, and wakes none for others' queues: %s",
    async (runtime) => {
      const place = await openPlace();
      try {
        const entry = "test/platforms/vercel/chain.ts";
        const project = await startProject({ configuration, entry, runtime, env: place.env });
        try {
          await expectLongWorkDone(project);
          const ask = asker(project.fetch);
          await ask("POST", "/v1/queues/pulled/tasks", { json: { payload: 1 } });
          // No consumer of this function works on that queue.
          expect((await ask("POST", "/v1/sweep")).body).toMatchObject({ failed: [], woken: 0 });
        } finally {
          await project.stop();
        }
      } finally {
        await place.close();
      }
    },
  );
});

it("the shipped function is the service", async () => {
  const entry = "serverless/vercel/api/sluice.ts";
  const project = await startProject({ configuration, entry, runtime: "nodejs", env: unused });
  try {
    expect(await (await project.fetch(forDocument())).json()).toEqual(openapi);
  } finally {
    await project.stop();
  }
  const methods = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"];
  expect(Object.keys(await exportsOf<object>(entry, "vercel")).toSorted()).toEqual(methods);
});
