/** Whether Redis refused the command for now. Nothing of it is written. */
export function isRefusedForNow(text: string): boolean {
  return isOutOfService(text) || /^(?:BUSY|TRYAGAIN)\b/.test(text);
}

/**
 * Whether this Redis takes no commands for now, or no writes, and its name may lead to another one. The text
 * may be within that of a script, which Redis refuses at its first write.
 */
export function isOutOfService(text: string): boolean {
  return /(?:^|: )-?(?:READONLY|NOREPLICAS|MASTERDOWN|MISCONF|LOADING|CLUSTERDOWN)\b/.test(text);
}

/** Whether Redis does not know the script of an EVALSHA. */
export function isNoScript(text: string): boolean {
  return /^(?:ERR )?NOSCRIPT\b/.test(text);
}
