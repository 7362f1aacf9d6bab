#!/usr/bin/env node
// The part of curl that the pages use, for machines without curl. As a program it prints status and body as one line
// of JSON.

/** @param {readonly string[]} args */
export async function curl(args) {
  /** @type {Record<string, string>} */
  const headers = {};
  let method, body, url;
  const words = args.values();
  const next = () => words.next().value ?? "";
  for (const arg of words) {
    if (arg === "-X") method = next();
    else if (arg === "-d") body = next();
    else if (arg === "-N") continue;
    else if (arg === "-H") {
      const [name = "", ...value] = next().split(":");
      headers[name] = value.join(":").trim();
    } else if (arg.startsWith("-") || url) throw new Error(`not understood: ${arg}`);
    else url = arg;
  }
  const response = await fetch(url ?? "", {
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers,
    body: body ?? null,
  });
  const isJson = /json/.test(response.headers.get("content-type") ?? "");
  return { status: response.status, text: await response.text(), isJson };
}

if (import.meta.main) {
  const { status, text, isJson } = await curl(process.argv.slice(2));
  console.log(JSON.stringify({ status, body: isJson ? JSON.parse(text) : text }));
}
