/** Which IP addresses belong to the public internet. */

type Block = readonly [address: string, bits: number];

/** What is not public of IPv4: https://www.iana.org/assignments/iana-ipv4-special-registry */
const PRIVATE_4: readonly Block[] = [
  ["0.0.0.0", 8], // this network
  ["10.0.0.0", 8],
  ["100.64.0.0", 10], // shared by customers of a provider (CGNAT)
  ["127.0.0.0", 8], // loopback
  ["168.63.129.16", 32], // the platform of Azure
  ["169.254.0.0", 16], // link-local, and the metadata of most clouds
  ["172.16.0.0", 12],
  ["192.0.0.0", 24], // protocols, and the metadata of Oracle Cloud
  ["192.0.2.0", 24], // documentation
  ["192.88.99.0", 24], // 6to4
  ["192.168.0.0", 16],
  ["198.18.0.0", 15], // benchmarks
  ["198.51.100.0", 24], // documentation
  ["203.0.113.0", 24], // documentation
  ["224.0.0.0", 3], // multicast, reserved, broadcast
];

/** The part of IPv6 that is assigned to the internet. */
const GLOBAL_6: Block = ["2000::", 3];

/** What of it is not public: https://www.iana.org/assignments/iana-ipv6-special-registry */
const PRIVATE_6: readonly Block[] = [
  ["2001::", 23], // protocols, Teredo, benchmarks
  ["2001:db8::", 32], // documentation
  ["2002::", 16], // 6to4
  ["3fff::", 20], // documentation
];

/** Addresses whose last four bytes are one of IPv4: mapped, and translated by NAT64. */
const WITH_4: readonly Block[] = [
  ["::ffff:0:0", 96],
  ["64:ff9b::", 96],
];

/** Whether a text is an address of IPv4 or IPv6, without brackets. */
export const isAddress = (text: string): boolean => bytesOf(text) !== undefined;

/** Whether an address belongs to the public internet. What cannot be read does not. */
export function isPublic(address: string): boolean {
  const bytes = bytesOf(address);
  if (!bytes) return false;
  if (bytes.length === 4) return !PRIVATE_4.some((block) => isIn(bytes, block));
  if (WITH_4.some((block) => isIn(bytes, block))) return isPublic(bytes.slice(12).join("."));
  return isIn(bytes, GLOBAL_6) && !PRIVATE_6.some((block) => isIn(bytes, block));
}

function isIn(bytes: readonly number[], [address, bits]: Block): boolean {
  const block = bytesOf(address) as readonly number[];
  return bytes.every((byte, i) => {
    const mask = 0xff & ~(0xff >> Math.max(0, Math.min(8, bits - 8 * i)));
    return (byte & mask) === ((block[i] as number) & mask);
  });
}

/** The 4 or 16 bytes of an address. */
function bytesOf(address: string): readonly number[] | undefined {
  if (/^\d{1,3}(?:\.\d{1,3}){3}$/.test(address)) {
    const bytes = address.split(".").map(Number);
    return bytes.every((byte) => byte < 256) ? bytes : undefined;
  }
  // The parser of URLs writes each address of IPv6 in one way, without IPv4 in it, and refuses zones.
  const url = address.includes(":") && !address.includes("]") ? `http://[${address}]/` : "";
  if (!URL.canParse(url)) return undefined;
  const [head = "", tail] = new URL(url).hostname.slice(1, -1).split("::");
  const words = (text = "") => (text === "" ? [] : text.split(":").map((word) => Number.parseInt(word, 16)));
  const before = words(head);
  const after = words(tail);
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => 0);
  return [...before, ...zeros, ...after].flatMap((word) => [word >> 8, word & 255]);
}
