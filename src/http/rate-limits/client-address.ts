import { isIPv6 } from 'node:net';

/**
 * What an address counts as: IPv4 as it is, also where it comes as an IPv6 one (`::ffff:192.0.2.1`), and IPv6 by its /64, which
 * one client has to itself: counting whole addresses would give it 2^64 allowances.
 */
export function clientOf(address: string): string {
  const [bare = ''] = address.split('%');
  const [, v4] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare) ?? [];
  if (v4 !== undefined) return v4;
  if (!isIPv6(bare)) return bare;
  // A URL's host is the shortest spelling of an address, in lower case and without dots.
  const shortest = new URL(`http://[${bare}]/`).hostname.slice(1, -1);
  const [head = '', tail] = shortest.split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => '0');
  const groups = tail === undefined ? first : [...first, ...zeros, ...last];
  return `${groups.slice(0, 4).join(':')}::/64`;
}
