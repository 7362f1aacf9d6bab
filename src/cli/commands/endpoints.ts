import { Argument, Command, Option } from "commander";
import { nearestName } from "../../nearest-name.ts";
import type { EndpointInfo, EndpointPage } from "../../open/endpoints/index.ts";
import { Refusal, UsageError } from "../exit.ts";
import { duration, pastInstant, rate, whole } from "../options.ts";
import { localTime, timeColumn } from "../output/times.ts";
import { inRounds } from "../rounds.ts";
import { operation, type Running, type Session } from "../session.ts";
import { noteWake } from "../wake-note.ts";

const ACTIONS = ["show", "add", "change", "remove", "disable", "enable", "rotate", "replay"] as const;

type Action = (typeof ACTIONS)[number];

interface EndpointsOptions {
  readonly keep?: number;
  readonly since?: number;
  readonly until?: number;
  readonly limit?: number;
  readonly rate?: number;
  readonly dryRun?: boolean;
}

/** How each setting of an endpoint is read. */
const SETTINGS: Readonly<Record<string, (text: string) => unknown>> = {
  url: String,
  types: (text) => text.split(","),
  rate,
  maxWorking: whole(1, 1_000_000),
  order: String,
  description: String,
  secret: String,
};

const HEADER = "header.";

const PATH = "/v1/endpoints";

export function endpointsCommand(running: Running): Command {
  const command = new Command("endpoints")
    .summary("list the endpoints that get events; add, change, disable, rotate or replay one")
    .description(
      `Lists endpoints, or changes one. Settings: ${Object.keys(SETTINGS).join(", ")}, header.<name>. "none" removes one.`,
    )
    .addArgument(new Argument("[action]").choices(ACTIONS))
    .argument("[id]", "of the endpoint")
    .argument("[name=value...]", "such as url=https://example.com/hooks types=orders.*,invoices.#")
    .addOption(
      new Option("--keep <duration>", "rotate: how long the old secret signs too (24h)").argParser(duration),
    )
    .addOption(
      new Option("--since <time>", "replay: what failed since: 2h (ago), 02:00").argParser(pastInstant),
    )
    .addOption(new Option("--until <time>", "replay: what failed before").argParser(pastInstant))
    .addOption(new Option("--limit <number>", "replay: at most this many").argParser(whole(1)))
    .addOption(
      new Option("--rate <rate>", "replay: at most this many a second, or such as 5/1m").argParser((text) => {
        const { most, per } = rate(text);
        return (most / per) * 1_000;
      }),
    )
    .option("--dry-run", "replay: only count");
  return operation(
    running,
    command,
    async (
      session: Session,
      options: EndpointsOptions,
      action: Action | undefined,
      id: string | undefined,
      given: readonly string[],
    ) => {
      if (action === undefined) return list(session);
      if (id === undefined) throw new UsageError(`give the id of the endpoint to ${action}`);
      if (given.length > 0 && action !== "add" && action !== "change")
        throw new UsageError(`${action} takes no settings`);
      await run(session, action, id, given, options);
    },
  );
}

const pathOf = (id: string) => `${PATH}/${encodeURIComponent(id)}`;

async function run(
  session: Session,
  action: Action,
  id: string,
  given: readonly string[],
  options: EndpointsOptions,
): Promise<void> {
  const { api, out } = session;
  if (action === "add") {
    const added: Added = await api.send("POST", PATH, "created", { id, ...settingsOf(given) });
    if (!added.created) throw new Refusal(`there is an endpoint ${id} already; change changes it`);
    return showSecret(session, added, `Added ${id}.`);
  }
  const endpoint = await known(session, id);
  const path = pathOf(id);
  switch (action) {
    case "show":
      return show(session, endpoint);
    case "change":
      return show(session, await api.send("PATCH", path, "url", settingsOf(given)));
    case "remove":
      await api.send("DELETE", path, "removed");
      return out.value({ id, removed: true }, `Removed ${id}.`);
    case "rotate": {
      const { keep } = options;
      const rotated: WithSecret = await api.send("POST", `${path}/rotate`, "secret", { keep });
      return showSecret(session, rotated, `${id} has another secret.`);
    }
    case "replay":
      return replay(session, id, options);
    default:
      return show(session, await api.send("POST", `${path}/${action}`, "url"));
  }
}

type WithSecret = EndpointInfo & { readonly secret: string };

type Added = WithSecret & { readonly created: boolean };

function showSecret({ out }: Session, endpoint: WithSecret, done: string): void {
  out.value(endpoint, `${done} Its secret, which is not shown again:\n${endpoint.secret}`);
}

/** @throws {Refusal} with the most similar id, if there is no such endpoint */
async function known(session: Session, id: string): Promise<EndpointInfo> {
  const found = await session.api.find<EndpointInfo>(pathOf(id), "url");
  if (found) return found;
  const nearest = nearestName(
    id,
    (await all(session)).map((one) => one.id),
  );
  throw new Refusal(`there is no endpoint ${id}${nearest === undefined ? "" : `; did you mean ${nearest}?`}`);
}

async function all({ api }: Session): Promise<EndpointInfo[]> {
  const found: EndpointInfo[] = [];
  const pages = api.pages<EndpointPage>(PATH, "endpoints", { size: 1_000 });
  for await (const { endpoints } of pages) found.push(...endpoints);
  return found;
}

async function list(session: Session): Promise<void> {
  session.out.rows(
    await all(session),
    [
      { title: "ID", copied: true, of: ({ id }) => id },
      { title: "URL", fills: true, of: ({ url }) => url },
      { title: "TYPES", optional: true, of: ({ types }) => types.join(" ") },
      { title: "STATE", of: stateOf },
      { title: "FAILING SINCE", ...timeColumn(({ failingSince }) => failingSince) },
    ],
    "There are no endpoints.",
  );
}

const stateOf = ({ state, disabledReason }: EndpointInfo) =>
  disabledReason === null ? state : `${state}: ${REASONS[disabledReason]}`;

const REASONS = { operator: "by an operator", failures: "failures", gone: "gone" };

function show({ out }: Session, endpoint: EndpointInfo): void {
  const { url, types, rate: limit, headers, secrets, failingSince, retryAt } = endpoint;
  const lines: (readonly [string, string | null | undefined])[] = [
    ["id", endpoint.id],
    ["url", url],
    ["types", types.join(" ")],
    ["state", stateOf(endpoint)],
    ["failing", failingSince === null ? null : `since ${localTime(failingSince)}`],
    ["next try", retryAt === null ? null : localTime(retryAt)],
    ["maxWorking", endpoint.maxWorking?.toString()],
    ["rate", limit && `${limit.most}/${limit.per}ms`],
    ["order", endpoint.order],
    ["headers", headers.length > 0 ? headers.join(" ") : null],
    [
      "secrets",
      secrets
        .map(({ endsWith, validUntil }) =>
          validUntil === null ? `…${endsWith}` : `…${endsWith} until ${localTime(validUntil)}`,
        )
        .join(", "),
    ],
    ["description", endpoint.description],
  ];
  const shown = lines.filter(([, value]) => value != null && value !== "");
  out.value(endpoint, shown.map(([name, value]) => `${name.padEnd(12)}${value}`).join("\n"));
}

/** @throws {UsageError} */
function settingsOf(given: readonly string[]): object {
  const headers: Record<string, string> = {};
  const settings: Record<string, unknown> = {};
  for (const text of given) {
    const at = text.indexOf("=");
    const [name, value] = [text.slice(0, at), text.slice(at + 1)];
    const read = SETTINGS[name];
    if (at > 0 && name.startsWith(HEADER)) headers[name.slice(HEADER.length)] = value;
    else if (at < 1 || !read)
      throw new UsageError(
        `${text} must be <name>=<value>, of ${Object.keys(SETTINGS).join(", ")} or header.<name>`,
      );
    else settings[name] = value === "none" ? null : read(value);
  }
  return { ...settings, ...(Object.keys(headers).length > 0 && { headers }) };
}

async function replay(session: Session, id: string, options: EndpointsOptions): Promise<void> {
  const { since, until, limit, rate: perSecond, dryRun } = options;
  if (since === undefined) throw new UsageError("give --since <time>, such as 2h");
  const body = { since, until, rate: perSecond, dryRun };
  const path = `${pathOf(id)}/replay`;
  const replayed = await inRounds(session, { path, field: "replayed", body, limit, noun: "delivery" });
  const count = replayed === 1 ? "1 delivery" : `${replayed} deliveries`;
  const done = dryRun ? `${count} would be replayed. Nothing was changed.` : `Replayed ${count} of ${id}.`;
  session.out.value({ id, replayed }, done);
  if (!dryRun && replayed > 0) noteWake(session);
}
