import type { Stack } from "./stack.ts";

/** Where the parts of the stack are. */
export const addresses = ({ redisUrl, gateway, workerUrl }: Stack) => `
  Worker    ${workerUrl}     in workerd, its cron every minute
  docs      ${workerUrl}/docs
  gateway   ${gateway.url}     speaks Upstash's protocol, counts what it would bill
  Redis     ${redisUrl.replace(/\/\/[^@/]*@/, "//")}
`;

/** What can be done with the stack, to be pasted into a shell. */
export const whatNow = (stack: Stack) => {
  const call = (path: string, body = "") =>
    `  curl -sw '\\n' "$SLUICE_URL/v1/queues/hello/${path}" -H "Authorization: Bearer $SLUICE_TOKEN"${body && ` \\\n    -H 'Content-Type: application/json' -d '${body}'`}`;
  return `${addresses(stack)}
Try it: enqueue a task, pull it, look at it.

  export SLUICE_URL=${stack.workerUrl} SLUICE_TOKEN=${stack.tokens.all}

${call("tasks", '{"id": "hello-1", "payload": {"to": "you"}}')}

${call("tasks/pull", '{"lease": "1m"}')}

${call("tasks/hello-1")}

With the receipt that the pull gave, POST …/tasks/settle completes it: see ${stack.workerUrl}/docs
With the library, or any client for Upstash:

  export UPSTASH_REDIS_REST_URL=${stack.gateway.url} UPSTASH_REDIS_REST_TOKEN=${stack.gateway.token}

Ctrl-C ends everything.`;
};
