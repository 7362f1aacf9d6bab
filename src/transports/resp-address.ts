import { type Environment, variable, type Variables } from "../environment.ts";
import { invalidArgument } from "../errors.ts";
import { prefixVariable } from "../redis-variables.ts";
import { checkRedisUrl, clusterNodes, invalidForm, isRedisUrl, parsedUrl, REDIS } from "../url.ts";
import type { RetryOptions } from "./retry.ts";

export interface RespOptions {
  /**
   * `redis://[user[:password]@]host[:port][/database]`, or `rediss://…` for TLS. Of a cluster
   * `cluster://[user[:password]@]host[:port][,host[:port]…]`, or `clusters://…` for TLS.
   */
  readonly url: string;
  /**
   * Where to reach the nodes of a cluster, by the address that the cluster has for them:
   * `{ "10.0.0.1:6379": { host: "example.com", port: 7001 } }`.
   * @default at the addresses that the cluster has for them
   */
  readonly natMap?: Readonly<Record<string, NodeAddress>> | undefined;
  /** When and how long to resend requests. */
  readonly retry?: RetryOptions | undefined;
  /**
   * Whether the server supports the script flag `allow-key-locking`. Open-source Redis does not.
   * @default false
   */
  readonly keyLocking?: boolean | undefined;
}

/** A Redis Cluster, by some of its nodes. */
export interface RespClusterOptions extends Omit<RespOptions, "url"> {
  /**
   * URLs of some nodes, which name all others: `redis://[user[:password]@]host[:port]`, or `rediss://…` for
   * TLS. User, password and TLS are the same for all nodes.
   */
  readonly nodes: readonly string[];
}

/** An environment with the variable of Redis over TCP. */
export interface RespEnvironment {
  readonly REDIS_URL?: string | undefined;
  readonly SLUICE_PREFIX?: string | undefined;
}

/** Where a node of a cluster is reached. */
export interface NodeAddress {
  readonly host: string;
  readonly port: number;
}

/** How to reach the nodes of a cluster. */
export interface ClusterAddress {
  /** The nodes that are asked for all others. */
  readonly seeds: readonly NodeAddress[];
  /** The URL of a node, with the credentials of all. */
  readonly urlOf: (node: NodeAddress) => string;
  /** Where to reach a node that the cluster names. */
  readonly translate: (node: NodeAddress) => NodeAddress;
}

/** The URL of one Redis, or the address of a cluster. */
export type RespAddress = string | ClusterAddress;

/**
 * The options of `resp`, of any form of its argument.
 * @throws {SluiceError} `invalid_argument` for an invalid variable
 */
export function respOptions(
  from: string | RespOptions | RespClusterOptions | RespEnvironment | Variables,
): (RespOptions | RespClusterOptions) & { readonly prefix?: string | undefined } {
  if (typeof from !== "object" || from === null) return { url: from };
  if ("url" in from || "nodes" in from) return from as RespOptions | RespClusterOptions;
  const env = from as Environment;
  const url = variable(env, "REDIS_URL");
  if (url === undefined)
    throw invalidArgument(
      "REDIS_URL",
      "is missing: pass the environment that has it, as resp(env), or a URL",
    );
  checkRedisUrl(url, "REDIS_URL");
  return { url, prefix: prefixVariable(env) };
}

/** @throws {SluiceError} `invalid_argument`, without the URL: it may hold a password */
export function respAddress(options: RespOptions | RespClusterOptions): RespAddress {
  const { natMap } = options;
  if (!("nodes" in options)) {
    const { url } = options;
    checkRedisUrl(url, "url");
    const nodes = clusterNodes(url);
    if (nodes) return clusterAddress(nodes, natMap);
    if (natMap !== undefined) throw invalidArgument("natMap", "must only be given for a cluster");
    return new URL(url).href;
  }
  if ("url" in options && options.url !== undefined)
    throw invalidArgument("nodes", "must not be given with url");
  if (!Array.isArray(options.nodes) || options.nodes.length === 0)
    throw invalidArgument("nodes", 'must be a list of URLs of nodes, such as ["redis://a:6379"]');
  return clusterAddress(options.nodes.map(nodeUrl), natMap);
}

function nodeUrl(value: unknown, index: number, all: readonly unknown[]): URL {
  const [url, first] = [parsedUrl(value, REDIS), parsedUrl(all[0], REDIS)];
  if (!url || url.hostname === "" || !isRedisUrl(url))
    throw invalidArgument(
      `nodes[${index}]`,
      invalidForm("redis://[user[:password]@]host[:port] or rediss://…"),
    );
  if (url.pathname.length > 1)
    throw invalidArgument(`nodes[${index}]`, "must have no database: a cluster has only database 0");
  if (first && (["protocol", "username", "password"] as const).some((part) => url[part] !== first[part]))
    throw invalidArgument(`nodes[${index}]`, "must have the protocol, user and password of nodes[0]");
  return url;
}

function clusterAddress(nodes: readonly URL[], natMap: RespClusterOptions["natMap"]): ClusterAddress {
  const [{ protocol, username, password }] = nodes as [URL, ...URL[]];
  const user = username + (password && `:${password}`);
  const translations = checkedNatMap(natMap);
  return {
    seeds: nodes.map(({ hostname, port }) => ({
      host: hostname.replace(/^\[|\]$/g, ""),
      port: port === "" ? 6_379 : Number(port),
    })),
    urlOf: ({ host, port }) =>
      `${protocol}//${user && `${user}@`}${host.includes(":") ? `[${host}]` : host}:${port}`,
    translate: (node) => translations.get(`${node.host}:${node.port}`) ?? node,
  };
}

function checkedNatMap(natMap: RespClusterOptions["natMap"] = {}): Map<string, NodeAddress> {
  const isMap = typeof natMap === "object" && natMap !== null;
  for (const [address, to] of isMap ? Object.entries(natMap) : []) {
    const isPort = Number.isInteger(to?.port) && to.port > 0 && to.port <= 65_535;
    if (!/:\d+$/.test(address) || typeof to?.host !== "string" || to.host === "" || !isPort)
      throw invalidArgument("natMap", NAT_MAP_FORM);
  }
  if (!isMap) throw invalidArgument("natMap", NAT_MAP_FORM);
  return new Map(Object.entries(natMap));
}

const NAT_MAP_FORM = 'must be an object such as { "10.0.0.1:6379": { host: "example.com", port: 7001 } }';
