import { afterAll, beforeAll, expect, it } from "vitest";
import { openapi } from "../../src/http/docs/openapi.gen.ts";
import type { JsonSchema } from "../../src/http/docs/openapi-document.ts";
import { populate } from "../fuzz/populate.ts";
import type { ReturnedValues } from "../fuzz/returned-values.ts";
import { openAppStack, type Stack } from "../fuzz/stack.ts";
import { written } from "../fuzz/valid-request.ts";
import { described, type Place, places } from "./places.ts";

// What the document says of each duration is what the server takes: the least, the most, and nothing beyond.

let stack: Stack;
let known: ReturnedValues;
beforeAll(async () => {
  stack = await openAppStack();
  known = await populate(described, stack);
});
afterAll(() => stack.close());

const LONGEST = 3_650 * 86_400_000;
const isDuration = ({ anyOf: [number, text] = [] }: JsonSchema) =>
  number?.type === "integer" && text?.pattern?.includes("(?:") === true;
const durations = places(isDuration);

const answerTo = async ({ put }: Place, value: unknown) => {
  const { status, text } = await stack.send(written(known.filled(put(value))));
  return { status, errors: (status === 400 ? JSON.parse(text).errors : []) as { path: string }[] };
};

it("every duration in the document is tried", () => {
  const tried = new Set(durations.map(([, { given }]) => given));
  const untried: string[] = [];
  JSON.stringify(openapi.components, (name, node: JsonSchema) => {
    if (node?.$ref?.includes("/schemas/") && isDuration(described.schema(node)) && !tried.has(node))
      untried.push(name);
    return node;
  });
  expect(untried).toEqual([]);
});

it.each(durations)(
  "%s is as the document says: the least and the most, and nothing beyond",
  async (_, place) => {
    const [{ minimum = Number.NaN, maximum = Number.NaN } = {}] = place.schema.anyOf ?? [];
    expect(maximum).toBeLessThanOrEqual(LONGEST);
    const inSeconds = [`${maximum / 1_000}s`, `${(maximum - 500) / 1_000}s`];
    const good = [minimum, `${minimum}ms`, maximum, ...inSeconds];
    // A wait for its most would take that long.
    for (const value of place.field.endsWith("wait") ? good.slice(0, 2) : good) {
      const { status } = await answerTo(place, value);
      expect([value, status < 300 || [404, 409, 429].includes(status)]).toEqual([value, true]);
    }
    const bad = [minimum - 1, maximum + 1, `${maximum + 1}ms`, `${minimum + 1}.5ms`, "5.0005s"];
    for (const value of minimum > 0 ? [...bad, `${minimum - 1}ms`] : bad) {
      const { errors } = await answerTo(place, value);
      const [{ path } = { path: "none" }] = errors;
      const isNamed = errors.length === 1 && path.startsWith(place.within) && place.field.startsWith(path);
      expect([value, path, isNamed]).toEqual([value, path, true]);
    }
  },
);
