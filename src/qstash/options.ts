import { invalidArgument, messageOf } from "../errors.ts";
import { checkPolicy, checkRuntime } from "../features/push/index.ts";
import { onlyOptions } from "../kernel/options/validation.ts";
import { pick } from "../pick.ts";

/** The options of {@link qstash}. */
export interface QStashOptions {
  /** The token of its callers, as `QSTASH_TOKEN`: 16 to 512 visible ASCII characters. Several are all valid. */
  readonly token: string | readonly string[];
  /** The keys that sign deliveries: `QSTASH_CURRENT_SIGNING_KEY` and `QSTASH_NEXT_SIGNING_KEY` of the receivers. */
  readonly signingKeys: readonly [current: string, next: string];
  /**
   * The hosts that messages may go to, such as `["api.example.com", "*.example.org"]`. It is required where the
   * addresses of a host are not known, as in a Worker.
   * @default all with public addresses
   */
  readonly allow?: readonly string[] | undefined;
  /** For development: hosts that may have private addresses, such as `["127.0.0.1"]`. @default none */
  readonly allowPrivate?: readonly string[] | undefined;
}

/** The options, or a function that returns them for the environment of a deployment. */
export type QStashGiven<Env> = QStashOptions | ((env: Env) => QStashOptions);

/**
 * Makes the function that returns the options for an environment. Options that need none are checked at once.
 * @throws {SluiceError} `invalid_argument`; the message contains no secret
 */
export function settingsOf<Env>(given: QStashGiven<Env>): (env: Env) => QStashOptions {
  if (typeof given !== "function") {
    const settings = checked(given);
    return () => settings;
  }
  let known: { readonly env: Env; readonly settings: QStashOptions } | undefined;
  return (env) => {
    if (known?.env !== env) known = { env, settings: checkedInEnvironment(() => given(env)) };
    return known.settings;
  };
}

/** An error here is not the caller's. */
function checkedInEnvironment(make: () => QStashOptions): QStashOptions {
  try {
    return checked(make());
  } catch (error) {
    throw new Error(messageOf(error), { cause: error });
  }
}

function checked(options: QStashOptions): QStashOptions {
  if (typeof options !== "object" || options === null)
    throw invalidArgument("qstash", "must be an object, or a function that returns one");
  onlyOptions(options, ["token", "signingKeys", "allow", "allowPrivate"], "qstash.");
  const tokens = [options.token].flat();
  if (
    tokens.length === 0 ||
    !tokens.every((token) => typeof token === "string" && /^[!-~]{16,512}$/.test(token))
  )
    throw invalidArgument(
      "qstash.token",
      "must be 16 to 512 visible ASCII characters, or an array of such tokens",
    );
  const { signingKeys } = options;
  const isKey = (key: unknown) => typeof key === "string" && key !== "";
  if (!Array.isArray(signingKeys) || signingKeys.length !== 2 || !signingKeys.every(isKey))
    throw invalidArgument("qstash.signingKeys", "must be the current and the next signing key");
  const policy = pick(options, ["allow", "allowPrivate"]);
  checkPolicy(policy, "qstash.");
  checkRuntime(policy, "qstash.");
  return options;
}
