import { EMBEDDED_STORE } from "./database.ts";
import type { Stack } from "./stack.ts";

/** Where everything is. The dashboard comes first, with the token that may do everything there. */
export const addresses = ({ redisUrl, gateway, url, runtime, tokens }: Stack) => `
  Dashboard ${url}/dashboard     sign in with the token ${tokens.all}
  ${runtime === "node" ? "server    " : "Worker    "}${url}     ${runtime === "node" ? "on Node, with a sweep" : "in workerd, its cron"} every minute
  docs      ${url}/docs
  gateway   ${gateway.url}     the Upstash REST protocol, with a count of billed commands
  Redis     ${redisUrl?.replace(/\/\/[^@/]*@/, "//") ?? `none: ${EMBEDDED_STORE}`}
`;

/** Commands to try, for a shell. */
export const nextSteps = (stack: Stack) => {
  const call = (path: string, body = "") =>
    `  curl -sw '\\n' "$SLUICE_URL/v1/queues/hello/${path}" -H "Authorization: Bearer $SLUICE_TOKEN"${body && ` \\\n    -H 'Content-Type: application/json' -d '${body}'`}`;
  return `${addresses(stack)}
Try it: enqueue a task, pull it, get its state.

  export SLUICE_URL=${stack.url} SLUICE_TOKEN=${stack.tokens.all}

${call("tasks", '{"id": "hello-1", "payload": {"to": "you"}}')}

${call("tasks/pull", '{"lease": "1m"}')}

${call("tasks/hello-1")}

POST …/tasks/settle with the receipt from the pull completes it: see ${stack.url}/docs
For the library, or any Upstash client:

  export UPSTASH_REDIS_REST_URL=${stack.gateway.url} UPSTASH_REDIS_REST_TOKEN=${stack.gateway.token}

Ctrl-C ends everything.`;
};
