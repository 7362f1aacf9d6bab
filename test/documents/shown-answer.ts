/** The smallest number that is taken for an instant, epoch ms. */
const FIRST_INSTANT = 1e12;

/** Fields whose number depends on the machine or on how long the test takes. */
const MEASURED = /^(?:oldestAge|roundTrip|usedMemory|maxMemory|bytes)$/;

const REST = "…";

/**
 * Compares an answer with the one that a page shows. In the page `…` replaces text, the further fields of an object or
 * the further items of a list. Instants only have to be instants.
 * @param shown JSON with `…`, or lines of a text that follow each other in the answer
 * @returns what differs; empty if nothing does
 */
export function differences(shown: string, actual: unknown): string[] {
  if (typeof actual === "string") return textDifferences(shown, actual);
  return compare(JSON.parse(withRests(shown)) as unknown, actual, "the answer");
}

/** Makes JSON of JSON with `…`: a field `"…"` in objects, an item `"…"` in lists. */
function withRests(shown: string): string {
  const open: string[] = [];
  return shown.replace(/"(?:[^"\\]|\\.)*"|[[\]{}…]/g, (token) => {
    if (token === "{" || token === "[") open.push(token);
    if (token === "}" || token === "]") open.pop();
    if (token !== REST) return token;
    return open.at(-1) === "{" ? `"${REST}": 0` : `"${REST}"`;
  });
}

function compare(shown: unknown, actual: unknown, path: string): string[] {
  const differs = [`${path} is ${JSON.stringify(actual)}, not ${JSON.stringify(shown)}`];
  if (Array.isArray(shown)) {
    if (!Array.isArray(actual)) return differs;
    const open = shown.at(-1) === REST;
    const items = open ? shown.slice(0, -1) : shown;
    if (open ? actual.length < items.length : actual.length !== items.length) return differs;
    return items.flatMap((item, i) => compare(item, actual[i], `${path}[${i}]`));
  }
  if (isObject(shown)) {
    if (!isObject(actual)) return differs;
    const { [REST]: rest, ...fields } = shown;
    const unknown = Object.keys(actual).filter((name) => !Object.hasOwn(fields, name));
    return [
      ...(rest === undefined ? unknown.map((name) => `${path} also has ${name}`) : []),
      ...Object.entries(fields).flatMap(([name, value]) =>
        MEASURED.test(name) && typeof value === "number" && typeof actual[name] === "number"
          ? []
          : compare(value, actual[name], `${path}.${name}`),
      ),
    ];
  }
  return isSame(shown, actual) ? [] : differs;
}

function isSame(shown: unknown, actual: unknown): boolean {
  if (isInstant(shown)) return isInstant(actual);
  if (typeof shown === "string" && typeof actual === "string") return pattern(shown).test(actual);
  return shown === actual;
}

function textDifferences(shown: string, actual: string): string[] {
  const lines = actual.split("\n");
  let at = 0;
  for (const line of shown.split("\n")) {
    const found = lines.slice(at).findIndex((one) => pattern(line).test(one));
    if (found === -1) return [`the answer does not have ${line}, but ${actual}`];
    at += found + 1;
  }
  return [];
}

/** A text in which `…` is any text. */
export function pattern(shown: string): RegExp {
  const parts = shown.split(REST).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join(".*")}$`, "s");
}

const isInstant = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= FIRST_INSTANT;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
