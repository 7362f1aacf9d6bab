import { faultsOfAnswer } from "./answer.ts";
import type { Broken } from "./broken-request.ts";
import { type Described, isObject, type Route } from "./document.ts";
import type { Answered } from "./stack.ts";

/** What is wrong with the answer to a broken request; empty if it refuses it and says why. */
export function faultsOfRefusal(
  described: Described,
  route: Route,
  { code, field }: Broken,
  answer: Answered,
): string[] {
  const faults = faultsOfAnswer(described, route, answer);
  const body: unknown =
    answer.headers["content-type"] === "application/problem+json" ? JSON.parse(answer.text) : {};
  if (!isObject(body) || body["code"] !== code) return [...faults, `the answer is not ${code}`];
  if (!field) return faults;
  const { errors, detail } = body;
  const named = Array.isArray(errors) ? errors.map((each: { path: unknown }) => String(each.path)) : [];
  const isNamed = named.some((path) => path.startsWith(field.within) && field.exact.startsWith(path));
  if (!isNamed) faults.push(`of the fields ${named.join(", ")} none is ${field.exact}`);
  const reported = field.exact === "" ? "The body" : (named[0] ?? "");
  if (!String(detail).includes(reported)) faults.push(`the detail does not name ${reported}`);
  return faults;
}
