import { createHash, randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { messageOf } from "../errors.ts";
import { parseTokens } from "../http/auth/tokens.ts";
import { type Subcommand, UsageError } from "./subcommand.ts";

const usage = `Usage: sluice token --scopes <list> --queues <pattern>

Makes a bearer token and its entry for SLUICE_TOKENS. The entry has only the token's SHA-256, so the settings
of the deployment do not reveal the token. The token is not stored anywhere: save it now.

Options:
  --scopes <list>     the scopes, separated by commas: enqueue, consume, admin
  --queues <pattern>  the queues, such as emails, emails-* or *; quote it for the shell
`;

export const token: Subcommand = {
  summary: "make a bearer token and its entry for SLUICE_TOKENS",
  usage,
  async run(args) {
    const { scopes, queues } = readOptions(args);
    // The prefix lets secret scanners recognize it.
    const made = `sluice_${randomBytes(32).toString("base64url")}`;
    const sha256 = createHash("sha256").update(made).digest("hex");
    const entry = checked({ sha256, scopes: scopes.split(",").map((scope) => scope.trim()), queues });
    process.stdout.write(
      [
        "# For the caller, who sends it as `Authorization: Bearer …`:",
        `SLUICE_TOKEN=${made}`,
        "# For the deployment, in addition to its other entries:",
        `SLUICE_TOKENS='[${JSON.stringify(entry)}]'`,
        "",
      ].join("\n"),
    );
  },
};

function readOptions(args: readonly string[]): { readonly scopes: string; readonly queues: string } {
  const text = { type: "string" } as const;
  try {
    const { scopes, queues } = parseArgs({ args: [...args], options: { scopes: text, queues: text } }).values;
    // Required, so that no token opens every queue by an omission.
    if (scopes === undefined) throw new UsageError("--scopes is required, such as enqueue,consume");
    if (queues === undefined) throw new UsageError("--queues is required, such as 'emails-*'");
    return { scopes, queues };
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}

function checked(entry: object): object {
  try {
    parseTokens([entry], "");
    return entry;
  } catch (error) {
    throw new UsageError(messageOf(error).replace(/^\[0\]\.(\w+)(?:\[\d+\])?/, "--$1"));
  }
}
