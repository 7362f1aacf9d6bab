#!/usr/bin/env node
// The part of curl that the pages use, for machines without curl. Prints status and body as one line of JSON; with
// CURL_PLAIN the body alone, as curl does.
/** @type {Record<string, string>} */
const headers = {};
let method, body, url;
const args = process.argv.slice(2).values();
const next = () => args.next().value ?? "";
for (const arg of args) {
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
const text = await response.text();
if (process.env["CURL_PLAIN"]) process.stdout.write(text);
else {
  const isJson = /json/.test(response.headers.get("content-type") ?? "");
  const answer = isJson ? JSON.parse(text) : text;
  console.log(JSON.stringify({ status: response.status, body: answer }));
}
