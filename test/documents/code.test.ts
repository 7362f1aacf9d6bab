import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { join } from "node:path";
import process from "node:process";
import { expect, test } from "vitest";
import { blocksOf, pages, temporaryFolder, textOf, write } from "./code.ts";
import { root } from "./named-tests.ts";

/** What the blocks leave out, such as values of the reader's own. A block may have its own of the same name. */
const OMITTED = `
  type Email = { to: string };
  type Env = { MAIL_URL: string; SLACK_URL: string };
  type Order = { id: string };
  type Task = import("sluice-queue").Task;
  type Transport = import("sluice-queue").Transport;
  type Credentials = { UPSTASH_REDIS_REST_URL: string; UPSTASH_REDIS_REST_TOKEN: string };
  type Tools = import("sluice-queue/cloudflare").DeploymentTools<Env>;
  declare const emails: import("sluice-queue").Queue<Email> & import("sluice-queue").DefinedQueue<Email>;
  declare const orders: import("sluice-queue").DefinedQueue<{ customer: string }>;
  declare const reports: import("sluice-queue").Queue;
  declare const [imports, rows, audits]: import("sluice-queue").Queue<any>[];
  declare const run: import("sluice-queue/flows").AddedFlow;
  declare const topics: import("sluice-queue/topics").Topics;
  declare const pages: number[];
  declare const queue: import("sluice-queue").Queue<Email> & Tools["queue"];
  declare const env: Env & Credentials & { EMAILS_KEY: string; PAYLOADS: import("sluice-queue/offload").R2BucketBinding };
  declare const ctx: { waitUntil(promise: Promise<unknown>): void; passThroughOnException(): void };
  declare const [url, secret, token, id, to, accessKeyId, secretAccessKey]: string[];
  declare const [first, second, third]: Credentials[];
  declare const request: Request;
  declare const signal: AbortSignal;
  declare const tokens: readonly [];
  declare const transport: Transport;
  declare const handler: (...given: any[]) => any;
  declare const worker: Parameters<typeof import("sluice-queue").cloudflareQueue>[0];
  declare const onDeadLetter: import("sluice-queue").OnDeadLetter;
  declare const order: Email & Order;
  declare const events: import("sluice-queue").DefinedQueue<{ url: string }>;
  declare const app: ReturnType<typeof import("sluice-queue/http").createApp> & import("sluice-queue/node").ServeOptions<Env>;
  declare const tools: Tools;
  declare const sendWelcome: import("sluice-queue").QueueConsumer<Env, Email>;
  declare const gateway: import("sluice-queue/local").Gateway;
  declare function render(...given: unknown[]): Promise<void>;
  declare function send(...given: unknown[]): Promise<void>;
  declare function deliver(task: Task): Promise<void>;
  declare function split(url: string): Promise<string[]>;
  declare function stop(): void;
  declare function userOf(request: Request): Promise<{ isAdmin: boolean } | undefined>;
  declare function startConsumer(queue: string): Promise<void>;
  declare function setTimer(queue: string, at: number, run: () => unknown): void;
`;

const IMPORT = /^import (?:type )?\{ ([^}]*) \} from "(.*)";\n?/gm;
const exported = Array.from(
  textOf("src/index.ts").matchAll(/^export (?:type )?\{([^}]*)\}/gm),
  ([, names = ""]) => names.match(/\b(?!type\b)\w+/g) ?? [],
).flat();
/** Where the names are from that a page uses without an import. */
const SOURCES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(exported.map((name) => [name, "sluice-queue"])),
  upstash: "sluice-queue/upstash",
  resp: "sluice-queue/resp",
  consumer: "sluice-queue/cloudflare",
  serve: "sluice-queue/node",
  ServeOptions: "sluice-queue/node",
};

/** A block that is a part of a program, as a module: with the imports of the blocks before it, and of the package. */
function moduleOf(code: string, before: Map<string, string>): string {
  for (const [, names = "", from = ""] of code.matchAll(IMPORT))
    for (const name of names.split(/,\s*/)) before.set(name.replace("type ", ""), from);
  const body = code.replaceAll(IMPORT, "");
  const words = new Set(body.match(/[A-Za-z]\w*/g));
  const isDeclared = (name: string) => new RegExp(`\\b(?:const|class|function|type) ${name}\\b`).test(body);
  const imports = [...words].flatMap((word) => {
    const source = before.get(word) ?? (Object.hasOwn(SOURCES, word) ? SOURCES[word] : undefined);
    return source === undefined || isDeclared(word) ? [] : `import { ${word} } from "${source}";`;
  });
  const whole = /^export /m.test(body) ? body : `export async function block() {\n${body}\n}`;
  return [...imports, whole].join("\n");
}

test("the code of all pages is type checked", async () => {
  const folder = temporaryFolder();
  let count = 0;
  for (const page of pages) {
    const imports = new Map<string, string>();
    for (const { code, file, isNamed, isCopy } of blocksOf(page)) {
      const module = isNamed ? code : moduleOf(code, imports);
      if (!isCopy) write(folder, file, module);
      count++;
    }
  }
  expect(count).toBeGreaterThan(60);
  write(folder, "omitted.d.ts", OMITTED);
  const compilerOptions = { verbatimModuleSyntax: false, noUncheckedIndexedAccess: false };
  write(
    folder,
    "tsconfig.json",
    JSON.stringify({ extends: "../../tsconfig.json", compilerOptions, include: ["."] }),
  );
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const found = promisify(execFile)(process.execPath, [tsc, "-p", folder]).catch(
    (error: { stdout: string }) => error,
  );
  expect((await found).stdout).toBe("");
});
