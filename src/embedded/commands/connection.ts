import type { Bytes } from "../bytes.ts";
import type { Client } from "../client.ts";
import { commands, container, type Context, type Words } from "../command.ts";
import { integerOf, readInteger } from "../numbers.ts";
import { noReply, OK, ReplyError, Status, syntaxError, wrongArity, type Value } from "../reply.ts";
import type { Server } from "../server.ts";

const flags = "noscript loading stale";
const withoutLogin = `${flags} fast no_auth allow_busy`;

export const connectionCommands = [
  ...commands(
    ["@connection"],
    [
      ["ping", -1, "fast", undefined, ping],
      ["echo", 2, "loading stale fast", undefined, (_, [, message = ""]) => message],
      ["hello", -1, withoutLogin, undefined, hello],
      [
        "auth",
        -2,
        withoutLogin,
        undefined,
        () => {
          throw new ReplyError(
            "ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?",
          );
        },
      ],
      [
        "select",
        2,
        "loading stale fast",
        undefined,
        (_, [, index = ""]) => {
          readInteger(index);
          if (index !== "0") throw new ReplyError("ERR DB index is out of range");
          return OK;
        },
      ],
      ["quit", -1, withoutLogin, undefined, ({ client }) => (client.close(), OK)],
      ["reset", 1, withoutLogin, undefined, reset],
    ],
  ),
  ...commands(
    [],
    [
      [
        "monitor",
        1,
        `admin ${flags} @admin @dangerous`,
        undefined,
        ({ client }) => ((client.isMonitor = true), OK),
      ],
    ],
  ),
  container("client", [
    ...commands(
      ["@connection"],
      [
        ["client|id", 2, flags, undefined, ({ client }) => client.id],
        ["client|getname", 2, flags, undefined, ({ client }) => client.name],
        [
          "client|setname",
          3,
          flags,
          undefined,
          ({ client }, [, , name = ""]) => {
            if (!/^[!-~]*$/.test(name)) {
              throw new ReplyError("ERR Client names cannot contain spaces, newlines or special characters.");
            }
            client.name = name;
            return OK;
          },
        ],
        ["client|info", 2, flags, undefined, ({ client }) => `${lineOf(client)}\n`],
        ["client|list", -2, `admin ${flags} @admin @dangerous`, undefined, list],
        ["client|kill", -3, `admin ${flags} @admin @dangerous`, undefined, kill],
        ["client|no-evict", 3, `admin ${flags} @admin @dangerous`, undefined, () => OK],
      ],
    ),
  ]),
];

function ping({ client }: Context, words: Words): Value {
  if (words.length > 2) throw wrongArity("ping");
  const [, message] = words;
  if (client.subscriptions > 0) return ["pong", message ?? ""];
  return message ?? new Status("PONG");
}

/** Only RESP2 is spoken. */
function hello({ client }: Context, [, version, ...options]: Words): Value {
  if (version !== undefined && version !== "2") {
    if (integerOf(version) === undefined) {
      throw new ReplyError("ERR Protocol version is not an integer or out of range");
    }
    throw new ReplyError("NOPROTO unsupported protocol version");
  }
  if (options.length > 0 && !(options.length === 2 && /^SETNAME$/i.test(options[0] as Bytes)))
    throw syntaxError();
  if (options[1] !== undefined) client.name = options[1];
  const facts = { server: "redis", version: "7.0.15", proto: 2, id: client.id };
  return [...Object.entries(facts).flat(), "mode", "standalone", "role", "master", "modules", []];
}

function reset({ client }: Context): Value {
  client.channels.clear();
  client.patterns.clear();
  client.queued = undefined;
  client.isMonitor = false;
  client.name = "";
  return new Status("RESET");
}

const lineOf = (client: Client): string =>
  `id=${client.id} addr=${client.address} laddr=127.0.0.1:0 name=${client.name} db=0 sub=${client.channels.size} ` +
  `psub=${client.patterns.size} multi=${client.queued?.length ?? -1} resp=2`;

/** CLIENT LIST, or with TYPE only those that subscribe, or those that do not. */
function list({ server }: Context, [, , option, type = ""]: Words): Value {
  if (option !== undefined && (!/^type$/i.test(option) || type === "")) throw syntaxError();
  const chosen = [...server.clients].filter((client) => option === undefined || isOfType(client, type));
  return chosen.map((client) => `${lineOf(client)}\n`).join("");
}

const isOfType = ({ subscriptions }: Client, type: Bytes): boolean =>
  /^pubsub$/i.test(type) ? subscriptions > 0 : /^normal$/i.test(type) && subscriptions === 0;

/** CLIENT KILL address, or with the filters ID, ADDR, TYPE and SKIPME. */
function kill({ server, client: self }: Context, words: Words): Value {
  const [, , ...filters] = words;
  if (filters.length === 1) {
    const found = [...server.clients].find(({ address }) => address === filters[0]);
    if (!found) throw new ReplyError("ERR No such client");
    drop(server, found);
    return found === self ? noReply : OK;
  }
  if (filters.length % 2 !== 0) throw syntaxError();
  let chosen = [...server.clients];
  let skipsSelf = true;
  for (let at = 0; at < filters.length; at += 2) {
    const [name, value] = [(filters[at] as Bytes).toUpperCase(), filters[at + 1] as Bytes];
    if (name === "ID") chosen = chosen.filter(({ id }) => String(id) === value);
    else if (name === "ADDR") chosen = chosen.filter(({ address }) => address === value);
    else if (name === "TYPE") chosen = chosen.filter((client) => isOfType(client, value));
    else if (name === "SKIPME") skipsSelf = /^yes$/i.test(value);
    else throw syntaxError();
  }
  const killed = chosen.filter((client) => client !== self || !skipsSelf);
  for (const client of killed) drop(server, client);
  return killed.length;
}

function drop(server: Server, client: Client): void {
  server.disconnect(client);
  client.close();
}
