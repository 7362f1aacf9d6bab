// Vercel's Node runtime, as a function sees it: a process that loads the function's module and calls its
// handlers by the method, with the request alone; `waitUntil` is found by the global, as @vercel/node sets
// it.

import { createServer } from "node:http";
import { resolve } from "node:path";
import { getRequestListener } from "@hono/node-server";

type Handlers = Readonly<Record<string, (request: Request) => Promise<Response>>>;

const handlers = (await import(resolve(process.argv[2] ?? ""))) as Handlers;
const awaited = new Set<Promise<unknown>>();

Object.defineProperty(globalThis, Symbol.for("@vercel/request-context"), {
  value: { get: () => ({ waitUntil: (promise: Promise<unknown>) => void awaited.add(promise) }) },
});

const listener = getRequestListener(
  (request) => handlers[request.method]?.(request) ?? new Response(null, { status: 405 }),
  { overrideGlobalObjects: false },
);
const server = createServer((request, response) => void listener(request, response));
server.listen(Number(process.env["PORT"]), "127.0.0.1");

process.once("SIGTERM", () => void Promise.allSettled(awaited).then(() => process.exit(0)));
