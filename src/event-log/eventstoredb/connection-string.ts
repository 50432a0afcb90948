import { readFileSync } from 'node:fs';
import type {
  ChannelCredentialOptions,
  Credentials,
  DNSClusterOptions,
  GossipClusterOptions,
  SingleNodeOptions,
} from '@eventstore/db-client';

/** A connection string that the log cannot or must not use. The message names what is wrong, never a value. */
export class InvalidConnectionString extends Error {
  readonly code = 'invalid_connection_string';
}

export const isInvalidConnectionString = (error: unknown): error is InvalidConnectionString =>
  error instanceof InvalidConnectionString;

/** What the client is made with. */
export interface ClientSettings {
  readonly settings: SingleNodeOptions | GossipClusterOptions | DNSClusterOptions;
  readonly channel: ChannelCredentialOptions;
  readonly credentials: Credentials | undefined;
}

interface EndPoint {
  readonly address: string;
  readonly port: number;
}

const form = /^(?<protocol>[a-z+]+):\/\/(?:(?<credentials>[^@/?]*)@)?(?<hosts>[^@/?]+)\/?(?:\?(?<options>.*))?$/;

const defaultPort = 2113;

/** Those of the client, by their name without case, `_` and `-`, as it reads them. Milliseconds but for gossipTimeout. */
const numbers = [
  'maxDiscoverAttempts',
  'discoveryInterval',
  'gossipTimeout',
  'keepAliveInterval',
  'keepAliveTimeout',
  'defaultDeadline',
] as const;
const texts = ['connectionName', 'tlsCAFile', 'userCertFile', 'userKeyFile', 'nodePreference'] as const;
const switches = ['tls', 'tlsVerifyCert', 'throwOnAppendFailure'] as const;

type Options = Partial<Record<(typeof numbers)[number], number> & Record<(typeof texts)[number], string>> &
  Partial<Record<(typeof switches)[number], boolean>>;

const plain = (name: string): string => name.trim().toLowerCase().replace(/[_-]/g, '');
const nameOf = new Map([...numbers, ...texts, ...switches].map((name) => [plain(name), name]));

/**
 * Reads `esdb://[name:password@]host[:port][,host[:port]...][?option=value[&...]]`, or `esdb+discover://` with one host
 * whose DNS name stands for the cluster. The client has a reader of its own, which we keep away from: it prints the whole
 * string, password and all, for an option it does not know, and cuts a password at its first colon.
 *
 * @throws InvalidConnectionString
 */
export function readConnectionString(connectionString: string): ClientSettings {
  const parts = form.exec(connectionString.trim())?.groups;
  refuseSuccessor(connectionString);
  if (!parts?.hosts || !['esdb', 'esdb+discover'].includes(parts.protocol ?? ''))
    throw new InvalidConnectionString('expected esdb://[name:password@]host[:port][,...][?option=value&...]');
  const hosts = parts.hosts.split(',').map(readHost);
  const options = readOptions(parts.options ?? '');
  refuse(options);
  return {
    settings: { ...addresses(parts.protocol === 'esdb+discover', hosts), ...clientOptions(options) },
    channel: channelOf(options),
    // The client sends none over a connection without TLS either, because anyone could read them there.
    credentials: options.tls === false ? undefined : readCredentials(parts.credentials),
  };
}

/** The same without name and password, for messages. */
export const withoutCredentials = (connectionString: string): string =>
  connectionString.trim().replace(/^([a-z+]+:\/\/)[^/?]*@/, '$1***@');

/** KurrentDB still speaks this protocol, but its own scheme is read by its own client only. */
function refuseSuccessor(connectionString: string): void {
  if (/^\s*(kurrent|kdb)/.test(connectionString))
    throw new InvalidConnectionString('write esdb:// or esdb+discover:// in place of kurrentdb://; KurrentDB understands both');
}

/** Options that would not do what they say, or would break what the log promises. */
function refuse({
  tls,
  tlsVerifyCert,
  throwOnAppendFailure,
  nodePreference,
  tlsCAFile,
  userCertFile,
  userKeyFile,
}: Options): void {
  if (tlsVerifyCert === false)
    throw new InvalidConnectionString('tlsVerifyCert=false has no effect in this client: name the authority with tlsCAFile');
  if (throwOnAppendFailure === false)
    throw new InvalidConnectionString('throwOnAppendFailure=false makes the client report wrong revisions');
  if (nodePreference !== undefined && plain(nodePreference) !== 'leader')
    throw new InvalidConnectionString('nodePreference must be leader: other nodes may not have what was just written');
  if (tls === false && (tlsCAFile ?? userCertFile ?? userKeyFile))
    throw new InvalidConnectionString('certificates need tls=true');
  if ((userCertFile === undefined) !== (userKeyFile === undefined))
    throw new InvalidConnectionString('userCertFile and userKeyFile come together');
}

function readCredentials(text: string | undefined): Credentials | undefined {
  if (text === undefined) return undefined;
  const colon = text.indexOf(':');
  if (colon < 1) throw new InvalidConnectionString('expected name:password before the @');
  return { username: decoded('the name', text.slice(0, colon)), password: decoded('the password', text.slice(colon + 1)) };
}

function readHost(text: string): EndPoint {
  const match = /^(?<address>[^:[\]\s]+|\[[0-9a-f:]+\])(?::(?<port>\d{1,5}))?$/i.exec(text.trim());
  const port = Number(match?.groups?.port ?? defaultPort);
  if (!match?.groups?.address || port < 1 || port > 65_535) throw new InvalidConnectionString('expected host[:port]');
  return { address: match.groups.address, port };
}

function addresses(discover: boolean, hosts: readonly EndPoint[]): SingleNodeOptions | GossipClusterOptions | DNSClusterOptions {
  const [first] = hosts;
  if (!first) throw new InvalidConnectionString('expected host[:port]');
  if (hosts.length > 1) return { endpoints: [...hosts] };
  return discover ? { discover: first } : { endpoint: first };
}

function readOptions(text: string): Options {
  const options: Record<string, string | number | boolean> = {};
  for (const pair of text.split('&').filter((part) => part !== '')) {
    const [rawName = '', ...rest] = pair.split('=');
    const name = nameOf.get(plain(rawName));
    if (!name) throw new InvalidConnectionString(`there is no option ${plain(rawName)}`);
    options[name] = readValue(name, decoded(`the option ${name}`, rest.join('=').trim()));
  }
  return options;
}

function readValue(name: string, text: string): string | number | boolean {
  if (text === '') throw new InvalidConnectionString(`${name} has no value`);
  if (numbers.some((number) => number === name)) {
    if (!/^-?\d{1,9}$/.test(text)) throw new InvalidConnectionString(`${name} is not a whole number`);
    return Number(text);
  }
  if (!switches.some((known) => known === name)) return text;
  if (text !== 'true' && text !== 'false') throw new InvalidConnectionString(`${name} is neither true nor false`);
  return text === 'true';
}

function clientOptions(options: Options): Partial<DNSClusterOptions> {
  const named = numbers.map((name) => [name, options[name]]);
  return Object.fromEntries(
    [...named, ['connectionName', options.connectionName]].filter(([, value]) => value !== undefined),
  ) as object;
}

function channelOf({ tls, tlsCAFile, userCertFile, userKeyFile }: Options): ChannelCredentialOptions {
  if (tls === false) return { insecure: true };
  return {
    insecure: false,
    ...(tlsCAFile !== undefined && { rootCertificate: readFile('tlsCAFile', tlsCAFile) }),
    ...(userCertFile !== undefined && { userCertFile: readFile('userCertFile', userCertFile) }),
    ...(userKeyFile !== undefined && { userKeyFile: readFile('userKeyFile', userKeyFile) }),
  };
}

function readFile(option: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    throw new InvalidConnectionString(`the file of ${option} cannot be read`);
  }
}

function decoded(what: string, text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new InvalidConnectionString(`${what} is not percent-encoded`);
  }
}
