#!/usr/bin/env node
// As much of curl as the README uses, for machines without it. Prints status and body.
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
const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
const answer = isStream
  ? { text: await response.text() }
  : response.status === 204
    ? {}
    : await response.json();
console.log(JSON.stringify({ status: response.status, body: answer }));
