import { variable, type Variables } from "../../environment.ts";
import { SluiceError } from "../../errors.ts";
import { cronFinding, type Finding } from "../../operate/health/index.ts";

/** A deployment without any token says so, and with which words. */
const WITHOUT_TOKENS = /^The server has (?:no|neither) SLUICE_TOKENS/;
const WITHOUT_SECRET = /^The server has neither SLUICE_TOKENS nor CRON_SECRET/;

/** Variables that Vercel sets, which `vercel env pull` writes into a file. */
const OF_VERCEL = /^(?:VERCEL_|KV_REST_API_)/;

/**
 * Whether the platform's cron can call the deployment with these variables.
 * @param inFile whether a file has them
 */
export function cronFindings(env: Variables, inFile: boolean): Finding[] {
  if (variable(env, "CRON_SECRET") !== undefined) return [cronFinding(true, false)];
  const isSeen = inFile || variable(env, "SLUICE_TOKENS") !== undefined;
  const isOfVercel = Object.keys(env).some((name) => OF_VERCEL.test(name));
  return isSeen ? [cronFinding(false, isOfVercel)] : [];
}

/** What the error of a deployment says of its cron. */
export const cronOfError = ({ message }: SluiceError): Finding[] =>
  WITHOUT_SECRET.test(message) ? [cronFinding(false, false)] : [];

/** Whether the error is that of a deployment without any token. */
export const hasNoTokens = ({ message }: SluiceError): boolean => WITHOUT_TOKENS.test(message);
