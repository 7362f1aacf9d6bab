import { createHash, randomBytes } from "node:crypto";
import { Command } from "commander";
import { messageOf } from "../../errors.ts";
import { parseTokens, scopes as allScopes } from "../../http/auth/tokens.ts";
import { UsageError } from "../exit.ts";
import type { Io } from "../io.ts";

/** Both options are required, so that no token opens every queue by an omission. */
export function tokenCommand({ stdout }: Io): Command {
  return new Command("token")
    .summary("make a bearer token and its entry for SLUICE_TOKENS")
    .description(
      "Makes a bearer token and its entry for SLUICE_TOKENS. The entry has only the token's SHA-256, so the settings of the deployment do not reveal the token. The token is not stored anywhere: save it now.",
    )
    .requiredOption("--scopes <list>", `the scopes, separated by commas: ${allScopes.join(", ")}`)
    .requiredOption(
      "--queues <pattern>",
      "the queues, such as emails, 'emails-*' or '*'; quote it for the shell",
    )
    .option(
      "--hide-payloads",
      "leave payloads, results, progress and headers out of all replies to this token",
    )
    .action((options: TokenOptions) => {
      const { token, entry } = newToken(options);
      stdout.write(
        [
          "# For the caller, who sends it as `Authorization: Bearer …`:",
          `SLUICE_TOKEN=${token}`,
          "# For the deployment, in addition to its other entries:",
          `SLUICE_TOKENS='[${JSON.stringify(entry)}]'`,
          "",
        ].join("\n"),
      );
    });
}

interface TokenOptions {
  /** Separated by commas. */
  readonly scopes: string;
  readonly queues: string;
  readonly hidePayloads?: true;
}

/**
 * A token, and its entry for `SLUICE_TOKENS`.
 * @throws {UsageError}
 */
function newToken({ scopes, queues, hidePayloads }: TokenOptions): {
  readonly token: string;
  readonly entry: object;
} {
  // The prefix lets secret scanners recognize it.
  const token = `sluice_${randomBytes(32).toString("base64url")}`;
  const sha256 = createHash("sha256").update(token).digest("hex");
  return {
    token,
    entry: checked({
      sha256,
      scopes: scopes.split(",").map((scope) => scope.trim()),
      queues,
      ...(hidePayloads && { payloads: "hidden" }),
    }),
  };
}

function checked(entry: object): object {
  try {
    parseTokens([entry], "");
    return entry;
  } catch (error) {
    throw new UsageError(messageOf(error).replace(/^\[0\]\.(\w+)(?:\[\d+\])?/, "--$1"));
  }
}
