import { Argument, Command, Option } from "commander";
import { readConfig } from "../../config.ts";
import { variable, type Variables } from "../../environment.ts";
import { messageOf, SluiceError } from "../../errors.ts";
import type { QueueDiagnostics } from "../../operate/diagnostics.ts";
import {
  clockFinding,
  type Finding,
  finding,
  type HealthFinding,
  type HealthReport,
  LONGEST_STUCK,
} from "../../operate/health/index.ts";
import type { TokenEntry } from "../../http/auth/tokens.ts";
import { healthOf } from "../doctor/asked-queues.ts";
import { cronFindings, cronOfError, hasNoTokens } from "../doctor/cron.ts";
import { healthyQueue, keyFindings } from "../doctor/keys.ts";
import { repaired } from "../doctor/repaired.ts";
import { isRefusedInFront } from "../connection/connect.ts";
import { EXIT, exitCodeOf } from "../exit.ts";
import { counted } from "../../counted.ts";
import { printable, wrapped } from "../output/printable.ts";
import { restVariables } from "../../redis-variables.ts";
import { durationWithin, queuePatterns } from "../options.ts";
import { operation, type Running, type Session } from "../session.ts";
import { pathOf } from "../tasks.ts";

interface DoctorOptions {
  readonly repair?: boolean;
  readonly after?: number;
  /** The file with the variables. */
  readonly env?: string;
}

const SYMBOLS = { ok: "✓", warning: "!", problem: "✗", unknown: "?" } as const;

export function doctorCommand(running: Running): Command {
  const command = new Command("doctor")
    .summary("check connection, Redis, queues and tokens, and say what to do")
    .description(
      "Checks the connection, Redis and its settings, the size and state of each queue, and tokens. It says what to do about each problem. If there is a problem, the exit code is 1. Without --repair it changes nothing.",
    )
    .addArgument(
      new Argument("[queues...]", "only these: names, or patterns such as emails-* (default: all)").argParser(
        queuePatterns,
      ),
    )
    .addOption(
      new Option("--after <time>", "how long a queue may be stuck, such as 5m (default: 10m)").argParser(
        durationWithin({ min: 1_000, max: LONGEST_STUCK }),
      ),
    )
    .option("--repair", "also check every entry of these queues, and repair what is wrong (deep sweep)");
  type Asked = readonly string[];
  return operation(running, command, async (session: Session, options: DoctorOptions, queues: Asked = []) => {
    try {
      await examine(session, options, queues);
    } catch (error) {
      if (error instanceof SluiceError) for (const one of cronOfError(error)) show(session, one);
      const advice = adviceFor(error, session);
      const found = session.out.json ? messageOf(error) : "failed, with the error below";
      if (advice !== undefined) show(session, finding("problem", "connection", "connection", found, advice));
      throw error;
    }
  });
}

async function examine(
  session: Session,
  { repair = false, after, env }: DoctorOptions,
  queues: readonly string[],
): Promise<void> {
  const { api, out, fail } = session;
  const findings: Finding[] = [];
  const report = (found: readonly Finding[]) => {
    findings.push(...found);
    for (const one of found) show(session, one);
  };
  out.note(`Checking ${api.name}`);
  const { grants }: { grants: Grant[] } = await api.get("/v1/token", "grants");
  if (api.isDatabase) report(variableFindings(session.io.env));
  report(tokenFindings(session, grants, env));
  if (api.isDatabase) report(cronFindings(session.io.env, env !== undefined));
  if (grants.some(mayView)) {
    const machineTime = Date.now();
    let health = await healthOf(session, queues, after);
    report(databaseFindings(session, health, grants, machineTime));
    report(await writeFindings(session));
    if (repair) {
      const named = health.queues.map(({ queue }) => queue);
      report(await repaired(session, queues.length > 0 ? named : [undefined]));
      health = await healthOf(session, queues, after);
    }
    if (health.queues.length === 0) report([finding("ok", "queues", "queues", "there is none yet")]);
    for (const queue of health.queues) report(await queueFindings(session, queue, health.findings, repair));
    if (health.truncated)
      out.note(`Only the first ${health.queues.length} queues were checked: name some, such as emails-*`);
  } else {
    report([finding("unknown", "not_checked", "Redis", "not checked", "use a token with the scope view")]);
  }
  const problems = findings.filter(({ status }) => status === "problem").length;
  if (problems > 0) fail();
  const warnings = findings.filter(({ status }) => status === "warning").length;
  out.note(`\n${counted(problems, "problem")}, ${counted(warnings, "warning")}.`);
}

/** What the report says of the database, and how the clock of this machine differs from Redis's. */
function databaseFindings(
  { api }: Session,
  { findings, now }: HealthReport,
  grants: readonly Grant[],
  machineTime: number,
): Finding[] {
  const ofDatabase = findings.filter((one) => !("queue" in one));
  const mayReadAll = grants.some((grant) => mayView(grant) && grant.queues === "*");
  const hidden = finding(
    "unknown",
    "not_checked",
    "settings of Redis",
    "not shown",
    "use a token with the scope view for all queues (*)",
  );
  const others = ofDatabase.filter(({ code }) => code !== "clock_off");
  // Of a deployment, its clock is another one.
  const itsClock = ofDatabase.filter(
    ({ code, status }) => code === "clock_off" && status !== "ok" && !api.isDatabase,
  );
  return [
    ...others,
    ...(mayReadAll ? [] : [hidden]),
    clockFinding(now, machineTime, "this machine"),
    ...itsClock.map((one) => ({ ...one, about: "clock of the deployment" })),
  ];
}

/** Whether Redis takes writes: what comes before it only reads. */
async function writeFindings({ api }: Session): Promise<Finding[]> {
  try {
    await api.get("/health", "status");
    return [];
  } catch (error) {
    if (!(error instanceof SluiceError) || exitCodeOf(error) !== EXIT.unreachable) throw error;
    return [
      finding(
        "problem",
        "writes",
        "writes",
        "Redis takes no writes",
        "is it a read-only replica, is it loading, or does it lack replicas?",
      ),
    ];
  }
}

/** What is wrong with a queue, or one line that nothing is. */
async function queueFindings(
  { api }: Session,
  queue: HealthReport["queues"][number],
  all: readonly HealthFinding[],
  repaired: boolean,
): Promise<Finding[]> {
  const name = queue.queue;
  const ofQueue: Finding[] = all.filter((one) => "queue" in one && one.queue === name);
  if (ofQueue.some(({ code }) => code === "unreadable")) return ofQueue;
  try {
    const diagnostics: QueueDiagnostics = await api.get(pathOf(name, "diagnostics"), "valid");
    const found = [...ofQueue, ...keyFindings(diagnostics, repaired)];
    return found.length > 0 ? found : [healthyQueue(queue, diagnostics)];
  } catch (error) {
    // A damaged queue must not hide the others.
    if (!(error instanceof SluiceError) || exitCodeOf(error) !== EXIT.failed) throw error;
    const advice = `sluice sweep --deep --queue ${name}`;
    return [...ofQueue, finding("problem", "unreadable", name, error.message, advice)];
  }
}

/** What to do if the deployment or the database cannot be reached; undefined for other errors. */
function adviceFor(error: unknown, { api }: Session): string | undefined {
  if (!(error instanceof SluiceError)) return undefined;
  switch (error.code) {
    case "unauthorized":
      if (hasNoTokens(error))
        return "set SLUICE_TOKENS in the environment of the deployment: sluice token makes one";
      if (isRefusedInFront(error))
        return "let the paths of Sluice pass the login in front of it, such as that of a proxy; on Vercel use the domain of production, or turn Deployment Protection off";
      return "set SLUICE_TOKEN to a token that is in the deployment's SLUICE_TOKENS: sluice token makes one";
    case "redis_unauthorized":
      return "check the password or token of Redis, and what its user may do";
    case "redis_quota":
      return "the plan of the Redis account is used up: change it, or wait for the next period";
    case "unreachable":
    case "redis_unreachable":
      if (api.isDatabase)
        return "is the URL right, does Redis run, and does a firewall keep this machine out?";
      return error.message.includes("(redis_unreachable)")
        ? "the deployment answers; its Redis does not"
        : "is the URL right, and what does its /health answer?";
    default:
      return undefined;
  }
}

/** Which variables name the database over HTTP, if those of Vercel's integration are set. */
function variableFindings(env: Variables): Finding[] {
  const { KV_REST_API_URL, KV_REST_API_TOKEN } = env;
  const integration = restVariables({ KV_REST_API_URL, KV_REST_API_TOKEN });
  if (integration.url === undefined) return [];
  const { names, url } = restVariables(env);
  const found = `${names.url} and ${names.token} are used`;
  if (url === integration.url) return [finding("ok", "variables", "variables", found)];
  return [
    finding(
      "warning",
      "variables",
      "variables",
      `${found}; KV_REST_API_URL names another database`,
      "remove the variables of the database that is not meant",
    ),
  ];
}

type Grant = Pick<TokenEntry, "scopes" | "queues">;

/** `admin` includes `view`. */
const mayView = ({ scopes }: Grant) => scopes.includes("view") || scopes.includes("admin");

/**
 * What the caller's token may do, or with the database's credentials, what the environment says of tokens.
 * @param file the file of variables that was given. If it has no tokens, the deployment needs none, or has another login
 */
function tokenFindings({ api, io }: Session, grants: readonly Grant[], file: string | undefined): Finding[] {
  if (!api.isDatabase) {
    const text = grants.map(({ scopes, queues }) => `${scopes.join(",")} for ${queues}`).join("; ");
    return [finding("ok", "token", "token", text)];
  }
  try {
    const { tokens } = readConfig(io.env);
    const plain = tokens.filter(({ token }) => token !== undefined).length;
    const found = `${counted(tokens.length, "token")} in SLUICE_TOKENS`;
    if (variable(io.env, "SLUICE_TOKENS") === undefined) {
      if (file !== undefined) return [];
      const advice = "if the deployment has tokens, pass its file: --env FILE";
      return [finding("unknown", "tokens", "tokens", "SLUICE_TOKENS is not set here", advice)];
    }
    if (tokens.length === 0)
      return [
        finding("warning", "tokens", "tokens", found, "no client is let in; sluice token makes tokens"),
      ];
    if (plain === 0) return [finding("ok", "tokens", "tokens", found)];
    return [
      finding(
        "warning",
        "tokens",
        "tokens",
        `${found}, ${plain} in plain text`,
        "store their SHA-256: sluice token makes such entries",
      ),
    ];
  } catch (error) {
    return [
      finding(
        "problem",
        "tokens",
        "tokens",
        messageOf(error),
        "correct the variable; deployments answer 503 until then",
      ),
    ];
  }
}

/** The commands of an advice that reach a database or a deployment. */
const COMMANDS =
  /\bsluice (?:cancel|dead|export|ls|pause|purge|redrive|resume|schedules|settings|show|stats|sweep|workers)\b/g;

function show({ out, where }: Session, finding: Finding): void {
  if (out.json) return out.line(finding);
  const { status, about, found, advice } = finding;
  const { green, yellow, red, dim } = out.colors;
  const paint = { ok: green, warning: yellow, problem: red, unknown: dim }[status];
  const shown = (text: string, indent: string) => wrapped(printable(text), out.width, indent);
  const next =
    advice === undefined
      ? ""
      : `\n    ${dim("→")} ${shown(
          advice.replaceAll(COMMANDS, (command) => command + where),
          " ".repeat(6),
        )}`;
  out.text(`${paint(SYMBOLS[status])} ${shown(`${about}: ${found}`, "  ")}${next}\n`);
}
