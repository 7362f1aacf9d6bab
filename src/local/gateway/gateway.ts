import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { answerAdmin, isAdminPath } from "./admin.ts";
import { type Answer, answer, answerFaulty } from "./response.ts";
import { CommandTable } from "./commands.ts";
import { Faults } from "./faults.ts";
import { connectRedis } from "./redis.ts";
import { errorJson } from "./reply.ts";
import { BadRequest, readBody, readRequest } from "./request.ts";
import { type Rights, Runner } from "./run.ts";
import { Scripts, type StrictKeys } from "./scripts.ts";
import { send } from "./send-response.ts";
import { Meter, type Usage } from "./usage.ts";

export interface GatewayOptions {
  /** `redis://` or `rediss://`, with user, password and database where there are any. */
  readonly redisUrl: string;
  /** @default 0, any free port */
  readonly port?: number | undefined;
  /** @default "127.0.0.1" */
  readonly host?: string | undefined;
  /** The standard token, which may do everything. @default a random one */
  readonly token?: string | undefined;
  /** The token that may only read. @default none */
  readonly readOnlyToken?: string | undefined;
  /**
   * Which scripts may only use keys that they declare: `"flagged"`, those with
   * `#!lua flags=allow-key-locking`, as on Upstash; or `"always"`, all of them. @default "flagged"
   */
  readonly strictKeys?: StrictKeys | undefined;
  /** Names by which faults may call scripts, by SHA-1. @default none */
  readonly scriptNames?: Readonly<Record<string, string>> | undefined;
  /** Takes a line when Redis goes away or comes back, or the gateway itself fails. Never payloads. */
  readonly log?: ((line: string) => void) | undefined;
}

/** An HTTP server that speaks the Upstash REST protocol in front of a Redis. */
export interface Gateway {
  /** For `UPSTASH_REDIS_REST_URL`, such as `http://127.0.0.1:8079`. */
  readonly url: string;
  /** For `UPSTASH_REDIS_REST_TOKEN`. */
  readonly token: string;
  readonly faults: Faults;
  usage(): Usage;
  resetUsage(): void;
  /** Ends the server with all its connections. */
  close(): Promise<void>;
}

/** Connections that clients keep are kept, so that none is closed just as it is used again. In ms. */
const keepAlive = 600_000;

/**
 * Starts the gateway.
 * @throws {RedisUnavailable} when Redis does not answer; an Error when the port is taken
 * @throws {SluiceError} `not_installed` if `@redis/client` is not installed
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { token = randomBytes(24).toString("base64url"), log = () => {} } = options;
  const redis = await connectRedis(options.redisUrl, log);
  try {
    const table = await CommandTable.load(redis);
    const meter = new Meter();
    const faults = new Faults(options.scriptNames);
    const runner = new Runner(redis, table, new Scripts(table, options.strictKeys ?? "flagged"), meter);
    const rightsOf = readTokens(token, options.readOnlyToken);

    const reply = async (request: IncomingMessage): Promise<Answer> => {
      // Read to the end in any case: a client that is still sending would not see the answer.
      const body = await readBody(request);
      const method = request.method ?? "";
      const url = new URL(request.url ?? "/", "http://gateway");
      if (!["HEAD", "GET", "POST", "PUT", "DELETE"].includes(method)) throw notAllowed(method);
      const rights = rightsOf(request.headers.authorization, url.searchParams.get("_token"));
      if (isAdminPath(url.pathname) && rights === "standard") {
        return await answerAdmin(method, url.pathname, body, meter, faults);
      }
      if (method === "DELETE") throw notAllowed(method);
      if (rights === undefined) throw new BadRequest(401, "WRONGPASS invalid or missing auth token");
      meter.request(body.length);
      const asked = readRequest(method, url, request.headers, body);
      const hit = faults.take(asked);
      if (hit?.fault.kind === "duplicate") meter.request(body.length);
      const answered = hit
        ? await answerFaulty(runner, asked, rights, hit)
        : await answer(runner, asked, rights);
      return { ...answered, sent: (bytes) => meter.response(bytes) };
    };

    const server = createServer({ keepAliveTimeout: keepAlive }, (request, response) => {
      reply(request)
        .catch((error: unknown): Answer => {
          if (error instanceof BadRequest) return { status: error.status, body: errorJson(error.message) };
          log(`request failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
          return { status: 500, body: errorJson("ERR the gateway failed; its log says why") };
        })
        .then((answered) => send(request, response, answered))
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

/** @returns what a request may do by its bearer token or `_token`, undefined for nothing at all */
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
