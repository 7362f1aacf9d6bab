import { describe, expect, test } from "vitest";
import { isPublic } from "../../../src/features/push/addresses.ts";
import { checkedTarget, type UrlPolicy } from "../../../src/features/push/index.ts";

const PRIVATE = "must have a public host, not one of a private network";

const refused: Readonly<Record<string, readonly string[]>> = {
  "this machine": [
    "http://127.0.0.1",
    "http://127.9.9.9",
    "http://localhost",
    "http://a.localhost",
    "http://[::1]",
  ],
  "no address": ["http://0.0.0.0", "http://[::]", "http://0.1.2.3"],
  "a private network": [
    "http://10.0.0.1",
    "http://172.16.0.1",
    "http://172.31.255.255",
    "http://192.168.1.1",
    "http://[fc00::1]",
    "http://[fd12:3456::1]",
    "http://[fec0::1]",
  ],
  "the network of a provider": ["http://100.64.0.1", "http://100.127.255.255"],
  "the link": ["http://169.254.1.1", "http://[fe80::1]"],
  metadata: [
    "http://169.254.169.254/latest/meta-data/",
    "http://[fd00:ec2::254]",
    "http://100.100.100.200",
    "http://168.63.129.16",
    "http://192.0.0.192",
    "http://metadata.google.internal",
    "http://METADATA.google.internal.",
    "http://metadata",
  ],
  "many, or all": [
    "http://224.0.0.1",
    "http://239.255.255.250",
    "http://255.255.255.255",
    "http://[ff02::1]",
  ],
  "no host: reserved, for benchmarks or for examples": [
    "http://240.0.0.1",
    "http://198.18.0.1",
    "http://192.0.2.1",
    "http://198.51.100.1",
    "http://203.0.113.1",
    "http://[2001:db8::1]",
    "http://[3fff::1]",
    "http://[2001:2::1]",
  ],
  "an address in IPv6": [
    "http://[::ffff:127.0.0.1]",
    "http://[::ffff:a9fe:a9fe]",
    "http://[::127.0.0.1]",
    "http://[64:ff9b::10.0.0.1]",
    "http://[64:ff9b:1::8.8.8.8]",
    "http://[2002:7f00:1::]",
    "http://[2001::1]",
  ],
  "an address in an odd form": [
    "http://2130706433",
    "http://0x7f000001",
    "http://0x7f.1",
    "http://0177.0.0.1",
    "http://127.1",
    "http://127.0.0.1.",
    "http://localhost..",
    "http://①②⑦.0.0.1",
    "http://%31%32%37.0.0.1",
    "http://169.254.43518",
  ],
  "names of private networks": [
    "http://router",
    "http://printer.local",
    "http://db.internal",
    "http://nas.lan",
    "http://host.localdomain",
    "http://router.home.arpa",
  ],
};

describe("refuses a URL that leads to", () => {
  test.each(Object.entries(refused))("%s", (_, urls) => {
    for (const url of urls) expect(() => checkedTarget(url), url).toThrow(`url ${PRIVATE}`);
  });
});

test("takes public hosts", () => {
  const urls = [
    "https://example.com/a?b#c",
    "http://8.8.8.8/",
    "http://[2606:4700::1111]/",
    "http://172.32.0.1/",
  ];
  urls.push(
    "http://100.128.0.1/",
    "http://[::ffff:8.8.8.8]/",
    "http://[64:ff9b::8.8.8.8]/",
    "http://1.1.1.1./",
  );
  for (const url of urls) expect(checkedTarget(url).href).toBe(new URL(url).href);
  expect(checkedTarget(new URL("https://example.com")).hostname).toBe("example.com");
});

test("refuses other protocols, and what is no URL", () => {
  const message = "url must be a URL of at most 2048 characters that begins with https:// or http://";
  const urls = [
    "ftp://example.com",
    "file:///etc/passwd",
    "gopher://example.com",
    "data:,a",
    "javascript:1",
    "",
  ];
  urls.push(
    "example.com",
    "//example.com",
    "http://",
    "http://exa mple.com",
    `https://example.com/${"a".repeat(2_048)}`,
  );
  for (const url of urls) expect(() => checkedTarget(url), url).toThrow(message);
});

test("refuses user and password, and repeats them in no error", () => {
  for (const url of [
    "https://user:secret@example.com",
    "https://user@example.com",
    "http://:secret@10.0.0.1",
  ]) {
    expect(() => checkedTarget(url)).toThrow(/^url must be a URL without user and password$/);
  }
});

test("refuses ports of other services; with `ports` all but these", () => {
  const message = "url must have a port that is allowed";
  for (const port of [0, 1, 22, 25, 110, 445, 1_023]) {
    expect(() => checkedTarget(`http://example.com:${port}`)).toThrow(message);
  }
  for (const port of [80, 443, 1_024, 8_443]) checkedTarget(`http://example.com:${port}`);
  const policy = { ports: [443, 8_443] };
  checkedTarget("https://example.com", policy);
  checkedTarget("http://example.com:8443", policy);
  for (const url of ["http://example.com", "https://example.com:1024"]) {
    expect(() => checkedTarget(url, policy)).toThrow(message);
  }
});

test("with `allow`: only these hosts, and for `*.` those below", () => {
  const policy: UrlPolicy = { allow: ["hooks.example.com", "*.Example.org", "8.8.8.8", "10.0.0.1"] };
  for (const host of [
    "hooks.example.com",
    "HOOKS.example.com.",
    "a.example.org",
    "a.b.example.org",
    "8.8.8.8",
  ]) {
    checkedTarget(`https://${host}/`, policy);
  }
  const message = "url must have one of the hosts that are allowed";
  for (const host of ["example.com", "a.hooks.example.com", "example.org", "evilexample.org", "8.8.4.4"]) {
    expect(() => checkedTarget(`https://${host}/`, policy), host).toThrow(message);
  }
  // What is allowed is still no private address.
  expect(() => checkedTarget("http://10.0.0.1", policy)).toThrow(PRIVATE);
});

test("takes a listed host in any form that URLs may have", () => {
  const policy: UrlPolicy = {
    allow: ["b\u00fccher.example", "*.b\u00fccher.example", "2606:4700:0:0::1111"],
  };
  for (const host of [
    "B\u00dcCHER.example",
    "xn--bcher-kva.example",
    "a.b\u00fccher.example",
    "[2606:4700::1111]",
    "[2606:4700:0000::1111]",
  ]) {
    checkedTarget(`https://${host}/`, policy);
  }
  const message = "url must have one of the hosts that are allowed";
  for (const host of ["bucher.example", "a.xn--bcher-kva.example.com", "[2606:4700::1112]"]) {
    expect(() => checkedTarget(`https://${host}/`, policy), host).toThrow(message);
  }
});

test("with `allowPrivate`: private addresses and names of these hosts", () => {
  const policy: UrlPolicy = { allowPrivate: ["127.0.0.1", "::1", "localhost", "*.internal"] };
  for (const host of ["127.0.0.1", "[::1]", "localhost", "LOCALHOST.", "a.internal"]) {
    checkedTarget(`http://${host}:8080/`, policy);
  }
  for (const host of ["127.0.0.2", "router", "10.0.0.1"]) {
    expect(() => checkedTarget(`http://${host}:8080/`, policy), host).toThrow(PRIVATE);
  }
  expect(() => checkedTarget("http://localhost:22/", policy)).toThrow("port");
});

test("names the URL as the caller does", () => {
  expect(() => checkedTarget("http://10.0.0.1", {}, "endpoint.url")).toThrow(`endpoint.url ${PRIVATE}`);
});

test.each<[string, object]>([
  ["policy.alow is an unknown option", { alow: [] }],
  ["policy.allow must be an array", { allow: "example.com" }],
  ["policy.allow[0] must be a host", { allow: ["https://example.com"] }],
  ["policy.allow[1] must be a host", { allow: ["example.com", "*"] }],
  ["policy.allow[0] must be a host", { allow: ["example.com:443"] }],
  ["policy.allowPrivate[0] must be a host", { allowPrivate: [1] }],
  ["policy.ports[0] must be a whole number from 1 to 65535", { ports: [0] }],
  ["policy.redirects must be a whole number from 0 to 5", { redirects: 6 }],
])("refuses a policy: %s", (message, policy) => {
  expect(() => checkedTarget("https://example.com", policy as UrlPolicy)).toThrow(message);
});

test("takes no address for public that it cannot read", () => {
  for (const text of [
    "",
    "example.com",
    "1.2.3",
    "256.1.1.1",
    "fe80::1%eth0",
    "2606:4700::1%1",
    "1::2::3",
    "::]",
  ]) {
    expect(isPublic(text), text).toBe(false);
  }
});
