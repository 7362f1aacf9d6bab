import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import * as cloudflare from "../../serverless/cloudflare.ts";
import * as lambda from "../../serverless/lambda.ts";
import * as netlify from "../../serverless/netlify.ts";
import * as next from "../../serverless/next.ts";
import * as vercel from "../../serverless/vercel.ts";
import type { ServiceOptions } from "../../serverless/cloudflare.ts";
import { defineQueue } from "../../src/index.ts";
import { testDeployment, type TestDeployment } from "../../src/testing/index.ts";

interface Env {
  readonly GREETING: string;
  readonly LIMIT?: number;
}

const emails = defineQueue("emails", { schema: z.object({ to: z.string() }) });
const options: ServiceOptions<Env> = {
  consumers: [emails.consumer((_, { GREETING }: Env) => GREETING)],
};
const apps = {
  cloudflare: cloudflare.sluice(options),
  vercel: vercel.sluice(options),
  next: next.sluice(options),
  lambda: lambda.sluice(options),
  netlify: netlify.sluice(options),
};

describe("the environment of a deployment in a test has the type of the app's", () => {
  test("on every platform", () => {
    const env = { GREETING: "hello" };
    expectTypeOf(testDeployment(apps.cloudflare, { env })).toEqualTypeOf<TestDeployment<Env>>();
    expectTypeOf(testDeployment(apps.vercel, { env })).toEqualTypeOf<TestDeployment<Env>>();
    expectTypeOf(testDeployment(apps.vercel.GET, { env })).toEqualTypeOf<TestDeployment<Env>>();
    expectTypeOf(testDeployment(apps.next, { env })).toEqualTypeOf<TestDeployment<Env>>();
    expectTypeOf(testDeployment(apps.next.handlers, { env })).toEqualTypeOf<TestDeployment<Env>>();
    expectTypeOf(testDeployment(apps.lambda, { env })).toEqualTypeOf<TestDeployment<Env>>();
    expectTypeOf(testDeployment(apps.netlify, { env })).toEqualTypeOf<TestDeployment<Env>>();
    expectTypeOf(testDeployment(options, { env })).toEqualTypeOf<TestDeployment<Env>>();
    expectTypeOf(testDeployment({ consumers: { emails: (_, { GREETING }: Env) => GREETING } })).toEqualTypeOf<
      TestDeployment<Env>
    >();
  });

  test("and the type check of Next.js, which takes the last overload, accepts the handlers", () => {
    type Second<T> = T extends (...args: [never, infer Context]) => unknown ? Context : never;
    expectTypeOf<Second<typeof apps.vercel.GET>>().toExtend<{ params: Promise<object> }>();
    expectTypeOf<Second<typeof apps.next.handlers.GET>>().toExtend<{ params: Promise<object> }>();
  });

  test("so neither a wrong name nor a wrong type compiles", () => {
    // @ts-expect-error an unknown name
    testDeployment(apps.cloudflare, { env: { GRETING: "hello" } });
    // @ts-expect-error an unknown name
    testDeployment(options, { env: { GRETING: "hello" } });
    // @ts-expect-error a number
    testDeployment(apps.vercel, { env: { GREETING: 7 } });
    // @ts-expect-error a text
    testDeployment(options, { env: { LIMIT: "7" } });
    // @ts-expect-error no text
    expect(() => testDeployment(options, { env: { SLUICE_PREFIX: 7 } })).toThrow("SLUICE_PREFIX");
  });

  test("but Sluice's own variables always do, and any if the app says nothing of its own", () => {
    testDeployment(apps.cloudflare, { env: { GREETING: "hello", SLUICE_PREFIX: "tests" } });
    testDeployment(cloudflare.sluice(), { env: { ANY: 1 } });
    testDeployment(cloudflare.sluice({ consumers: [emails.consumer(() => {})] }), { env: { ANY: 1 } });
    testDeployment({ consumers: [emails.consumer(() => {})] }, { env: { ANY: 1 } });
    expectTypeOf(testDeployment(cloudflare.sluice()).queue(emails).enqueue)
      .parameter(0)
      .toEqualTypeOf<{ to: string }>();
  });

  test("and an app is no options", () => {
    // @ts-expect-error neither
    expect(() => testDeployment({ consumer: {} })).toThrow("consumer is an unknown option");
  });
});
