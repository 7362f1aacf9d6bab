import { createHash, randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { messageOf } from "../errors.ts";
import { parseTokens } from "../http/auth/tokens.ts";
import { type Subcommand, UsageError } from "./subcommand.ts";

const usage = `Usage: sluice token --scopes <list> --queues <pattern>

Makes a bearer token, and the entry of SLUICE_TOKENS by which a deployment knows it. That has the token's SHA-256
only: whoever reads the deployment's settings does not learn it. It is kept nowhere, so note it now.

Options:
  --scopes <list>     what it allows: enqueue, consume, admin, with commas between
  --queues <pattern>  for which queues, such as emails, emails-* or *; quote it for the shell
`;

export const token: Subcommand = {
  summary: "make a bearer token and its entry of SLUICE_TOKENS",
  usage,
  async run(args) {
    const { scopes, queues } = readOptions(args);
    // The name in front lets a scanner know it where it should not be.
    const made = `sluice_${randomBytes(32).toString("base64url")}`;
    const sha256 = createHash("sha256").update(made).digest("hex");
    const entry = checked({ sha256, scopes: scopes.split(","), queues });
    process.stdout.write(
      [
        "# For the caller, who sends it as `Authorization: Bearer …`:",
        `SLUICE_TOKEN=${made}`,
        "# For the deployment, beside the other entries of this list:",
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
    // It has to be said: a token that was forgotten to be narrowed must not open every queue.
    if (scopes === undefined) throw new UsageError("--scopes has to be given, such as enqueue,consume");
    if (queues === undefined) throw new UsageError("--queues has to be given, such as 'emails-*'");
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
