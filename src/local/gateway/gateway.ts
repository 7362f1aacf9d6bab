import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { EmbeddedDatabase } from "../../embedded/database.ts";
import { handleAdmin, isAdminPath } from "./admin.ts";
import { type GatewayResponse, execute, executeWithFault } from "./response.ts";
import { CommandTable } from "./commands.ts";
import { connectEmbedded } from "./embedded.ts";
import { Faults } from "./faults.ts";
import { connectRedis } from "./redis.ts";
import { errorJson } from "./reply.ts";
import { BadRequest, readBody, readRequest } from "./request.ts";
import { type Rights, Runner } from "./run.ts";
import { Scripts, type StrictKeys } from "./scripts.ts";
import { sendResponse } from "./send-response.ts";
import { Meter, type Usage } from "./usage.ts";

export interface GatewayOptions {
  /** `redis://` or `rediss://`, optionally with user, password and database. @default see `database` */
  readonly redisUrl?: string | undefined;
  /** An embedded database in place of a Redis. @default a new one, if there is no `redisUrl` either */
  readonly database?: EmbeddedDatabase | undefined;
  /** The port; 0 for any free one. @default 0 */
  readonly port?: number | undefined;
  /** The address to listen on. @default "127.0.0.1" */
  readonly host?: string | undefined;
  /** The standard token, which may run every command. @default a random one */
  readonly token?: string | undefined;
  /** The read-only token. @default none */
  readonly readOnlyToken?: string | undefined;
  /**
   * In which scripts to refuse undeclared keys: `"flagged"`, those with `#!lua flags=allow-key-locking`, as
   * on Upstash; or `"always"`, in all scripts. @default "flagged"
   */
  readonly strictKeys?: StrictKeys | undefined;
  /** Names of scripts for faults, by SHA-1. @default none */
  readonly scriptNames?: Readonly<Record<string, string>> | undefined;
  /**
   * Called with a line when Redis becomes unreachable or reachable, or when the gateway fails. The line never
   * contains payloads.
   * @default none
   */
  readonly log?: ((line: string) => void) | undefined;
}

/** An HTTP server that serves a Redis, or an embedded database, over the Upstash REST protocol. */
export interface Gateway {
  /** The value for `UPSTASH_REDIS_REST_URL`, such as `http://127.0.0.1:8079`. */
  readonly url: string;
  /** The value for `UPSTASH_REDIS_REST_TOKEN`. */
  readonly token: string;
  readonly faults: Faults;
  usage(): Usage;
  resetUsage(): void;
  /** Closes the server and all its connections. */
  close(): Promise<void>;
}

/** How long idle connections are kept, ms. Long, so that none closes just as its client sends a request. */
const keepAlive = 600_000;

/**
 * Starts the gateway.
 * @throws {RedisUnavailable} if Redis does not answer; an Error if the port is in use
 * @throws {SluiceError} `not_installed` if `@redis/client` is not installed
 */
export async function startGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const { token = randomBytes(24).toString("base64url"), log = () => {} } = options;
  const redis =
    options.redisUrl === undefined
      ? connectEmbedded(options.database ?? new EmbeddedDatabase())
      : await connectRedis(options.redisUrl, log);
  try {
    const table = await CommandTable.load(redis);
    const meter = new Meter();
    const faults = new Faults(options.scriptNames);
    const runner = new Runner(redis, table, new Scripts(table, options.strictKeys ?? "flagged"), meter);
    const rightsOf = readTokens(token, options.readOnlyToken);

    const handle = async (request: IncomingMessage): Promise<GatewayResponse> => {
      // Always read to the end: a client that is still sending would not see the response.
      const body = await readBody(request);
      const method = request.method ?? "";
      const url = new URL(request.url ?? "/", "http://gateway");
      if (!["HEAD", "GET", "POST", "PUT", "DELETE"].includes(method)) throw notAllowed(method);
      const rights = rightsOf(request.headers.authorization, url.searchParams.get("_token"));
      if (isAdminPath(url.pathname) && rights === "standard") {
        return await handleAdmin(method, url.pathname, body, meter, faults);
      }
      if (method === "DELETE") throw notAllowed(method);
      if (rights === undefined) throw new BadRequest(401, "WRONGPASS invalid or missing auth token");
      meter.request(body.length);
      const parsed = readRequest(method, url, request.headers, body);
      const hit = faults.take(parsed);
      if (hit?.fault.kind === "duplicate") meter.request(body.length);
      const result = hit
        ? await executeWithFault(runner, parsed, rights, hit)
        : await execute(runner, parsed, rights);
      return { ...result, sent: (bytes) => meter.response(bytes) };
    };

    const server = createServer({ keepAliveTimeout: keepAlive }, (request, response) => {
      handle(request)
        .catch((error: unknown): GatewayResponse => {
          if (error instanceof BadRequest) return { status: error.status, body: errorJson(error.message) };
          log(`request failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
          return { status: 500, body: errorJson("ERR the gateway failed; its log says why") };
        })
        .then((result) => sendResponse(request, response, result, runner.syncToken))
        .catch(() => response.destroy());
    });
    server.listen(options.port ?? 0, options.host ?? "127.0.0.1");
    await once(server, "listening");
    const { address, family, port } = server.address() as AddressInfo;

    return {
      url: `http://${family === "IPv6" ? `[${address}]` : address}:${port}`,
      token,
      faults,
      usage: () => meter.read(),
      resetUsage: () => meter.reset(),
      async close() {
        const closed = once(server, "close");
        server.close();
        server.closeAllConnections();
        await closed;
        redis.close();
      },
    };
  } catch (error) {
    redis.close();
    throw error;
  }
}

const notAllowed = (method: string): BadRequest =>
  new BadRequest(405, `ERR HTTP method ${method} is not allowed, only HEAD, GET, POST and PUT`);

/** Returns a function that looks up the rights of a bearer token or `_token`; undefined if it is unknown. */
function readTokens(standard: string, readOnly: string | undefined) {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  const known: [Buffer, Rights][] = [[digest(standard), "standard"]];
  if (readOnly !== undefined) known.push([digest(readOnly), "read-only"]);
  return (authorization: string | undefined, parameter: string | null): Rights | undefined => {
    const [, bearer] = /^Bearer\s+(\S+)\s*$/i.exec(authorization ?? "") ?? [];
    const given = digest(bearer ?? parameter ?? "");
    return known.find(([token]) => timingSafeEqual(token, given))?.[1];
  };
}
