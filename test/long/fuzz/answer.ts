import { problems } from "../../../src/http/problems/codes.ts";
import { misfits } from "./conforms.ts";
import { type Described, isObject, jsonOf, type Route } from "./document.ts";
import { SECRET } from "./from-schema.ts";
import { type Answered, cronSecret, token } from "./stack.ts";

/** The differences between an answer and the document and pages; empty if there are none. */
export function faultsOfAnswer(described: Described, route: Route, answer: Answered): string[] {
  const { status, headers, text } = answer;
  const promised = route.answer(status);
  if (!promised) return [`the status ${status} is not documented for ${route.operationId}`];
  const faults: string[] = [];
  const expectHeader = (name: string, wanted: string) => {
    if (headers[name] !== wanted) faults.push(`${name} is ${String(headers[name])}, not ${wanted}`);
  };
  if (status >= 500 && !isUnhealthy(answer)) faults.push(`the status is ${status}`);
  if (status >= 400 || route.path.startsWith("/v1/")) {
    const isStream = headers["content-type"]?.startsWith("text/event-stream");
    expectHeader("cache-control", isStream ? "no-store, no-transform" : "no-store");
    expectHeader("x-content-type-options", "nosniff");
  }
  for (const secret of [token, cronSecret]) if (text.includes(secret)) faults.push("it shows a token");

  const content = promised.content ?? {};
  const type = Object.keys(content).find((each) => each === headers["content-type"]?.replace(/;.*/, ""));
  if (type === undefined) {
    if (Object.keys(content).length > 0 || text !== "")
      faults.push(`the content type is ${headers["content-type"]}`);
    return faults;
  }
  if (!type.endsWith("json")) return faults;
  const schema = (type === "application/json" ? jsonOf(content) : content[type])?.schema ?? {};
  const body: unknown = JSON.parse(text);
  faults.push(...misfits(described, schema, body));
  if (status >= 400)
    faults.push(...faultsOfProblem(body, status, Object.keys(content[type]?.examples ?? {})));
  return faults;
}

/** Whether a request for the health of queues has got the failure that it asks for. */
export const isUnhealthy = ({ status, text }: Answered) =>
  status === 503 && (JSON.parse(text) as { code?: unknown }).code === "unhealthy";

function faultsOfProblem(body: unknown, status: number, documented: readonly string[]): string[] {
  if (!isObject(body)) return ["the problem is no object"];
  const faults: string[] = [];
  const code = String(body["code"]);
  const known = Object.entries(problems).find(([each]) => each === code)?.[1];
  if (!documented.includes(code)) faults.push(`the code ${code} is not documented for the status ${status}`);
  if (known?.status !== status || body["status"] !== status) faults.push(`${code} has the status ${status}`);
  if (body["type"] !== `/docs#${code}` || body["title"] !== known?.title)
    faults.push(`${code} is described differently`);
  const text = JSON.stringify(body);
  if (/\n\s+at |\.[jt]s:\d+|node_modules|Error:/.test(text)) faults.push("it shows internals of the server");
  if (text.includes(SECRET)) faults.push("it repeats what was sent as payload");
  return faults;
}
