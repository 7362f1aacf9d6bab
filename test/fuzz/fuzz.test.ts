import { beforeAll, describe, expect, it } from "vitest";
import { openapi } from "../../src/http/docs/openapi.gen.ts";
import { fuzz, type FuzzReport } from "./fuzz.ts";

/** `npm run test:fuzz` makes 20,000 from each of its seeds. */
const requests = 5_000;

describe("requests made from the OpenAPI document, to the Worker in workerd", () => {
  let report: FuzzReport;

  // An answer that differs from the document ends the run, with the seed and the shrunk request.
  beforeAll(async () => {
    report = await fuzz({ seed: 5, requests });
  }, 600_000);

  it("are answered as it says: valid ones as by the model, each broken one with its fault", () => {
    const { broken, valid, modelled } = report;
    expect(broken).toBeGreaterThanOrEqual(requests * 0.75);
    expect(valid).toBeGreaterThanOrEqual(requests * 0.05);
    expect(modelled).toBeGreaterThanOrEqual(requests * 0.2);
  });

  it("call every operation", () => {
    const all = Object.values(openapi.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    );
    expect([...report.operations.keys()].toSorted()).toEqual(all.toSorted());
  });

  // V8 collects garbage late: it takes about a gigabyte, and then no more.
  it("leave workerd with less than 1.6 GB of memory", () => {
    expect(report.memory[1]).toBeLessThan(1_600_000_000);
  });
});
