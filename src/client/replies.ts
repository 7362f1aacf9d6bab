/**
 * Reads a response.
 * @param replyField a field that every reply to this request has
 * @param refusals codes of problems to return instead of throwing them
 * @returns the reply, or the code of a refusal
 * @throws {Transient} if another copy may succeed
 * @throws {SluiceError} otherwise
 */
export async function readReply<Refusal extends string>(
  response: Response,
  text: string,
  replyField: string,
  refusals: readonly Refusal[],
): Promise<object | Refusal> {
  const json = jsonObject(text);
  if (response.ok && json !== undefined && replyField in json) return json;
  const { refusalOf } = await import("./refusals.ts");
  return refusalOf(response, json, refusals);
}

function jsonObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    // The parser's message may quote the text.
    return undefined;
  }
}
