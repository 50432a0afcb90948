import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/config/package-root.js';
import { Codec } from '../../src/event-log/codec.js';
import type { DomainEvent } from '../../src/event-log/domain-event.js';
import type { EventCatalogue } from '../../src/event-log/event-catalogue.js';
import type { NewEvent, StoredEvent } from '../../src/event-log/event-log.js';
import { verifyChain } from '../../src/event-log/hash-chain.js';
import { streamName, type StreamId } from '../../src/event-log/stream-name.js';
import { FixedKeys, fixedKey } from './fixed-keys.js';

/** Events as they were stored once, with the keys to read them. They never change: the logs of our users do not either. */
const folder = join(packageRoot, 'test/fixtures/events');

export const goldenFile = (type: string, version: number, variant?: string): string =>
  `${type}.v${version}${variant === undefined ? '' : `.${variant}`}.json`;

const prefix = 'mneme_';
const team = '6f1c3f4e-3f2d-4f0e-9c0b-1d2a3b4c5d6e';
const memory = 'a1b2c3d4-0000-4000-8000-00000000abcd';
const context = {
  commandId: '11111111-1111-4111-8111-111111111111',
  correlationId: '22222222-2222-4222-8222-222222222222',
  team,
  profile: '33333333-3333-4333-8333-333333333333',
  apiKey: '44444444-4444-4444-8444-444444444444',
};

interface Fixture {
  readonly event: NewEvent & { readonly stream: string };
  /** Hexadecimal test keys by owner. */
  readonly keys: Readonly<Record<string, string>>;
}

export interface Golden<Event extends DomainEvent> {
  /** The event as today's code knows it. For an older version: what the upcasters make of the fixture. */
  readonly event: Event;
  /** Version of the fixture; today's when left out. */
  readonly version?: number;
  /** Names a further fixture of the version: of events with an optional field that came later. */
  readonly variant?: string;
  /** Stream the fixture is written to, when it does not exist yet. */
  readonly stream?: StreamId;
}

/**
 * Expects that the stored event of `test/fixtures/events/<Type>.v<version>.json` still decodes to `event`, that its hash
 * chain holds, and, for today's version, that `event` is still stored in the same shape: a changed shape needs a new
 * version and an upcaster. A missing fixture fails; with MNEME_TEST_UPDATE_FIXTURES=1 it is written, and never rewritten.
 */
export async function expectGolden<Event extends DomainEvent>(catalogue: EventCatalogue, golden: Golden<Event>): Promise<void> {
  const { event } = golden;
  const current = catalogue.definition(event.type).version;
  const version = golden.version ?? current;
  const file = join(folder, goldenFile(event.type, version, golden.variant));
  if (version === current && !existsSync(file) && process.env.MNEME_TEST_UPDATE_FIXTURES === '1') {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, `${JSON.stringify(await fixtureOf(catalogue, golden), undefined, 2)}\n`);
  }
  const fixture = readFixture(file);
  const stored = storedOf(fixture);
  const codec = new Codec(catalogue, new FixedKeys(fixture.keys), prefix);
  const [decoded] = await codec.decode<Event>([stored]);
  expect(decoded?.data).toEqual(event);
  expect(decoded?.metadata.schemaVersion).toBe(version);
  expect(verifyChain([stored])).toBeUndefined();
  if (version === current) {
    const [encoded] = await codec.encode(stored.stream, undefined, [event], context);
    expect(shape(encoded)).toEqual(shape(stored));
  }
}

/** Fails for each event type and version that has no fixture or one that today's code cannot read, and for fixtures of types unknown today. */
export async function everyEventTypeHasAGoldenFixture(catalogue: EventCatalogue): Promise<void> {
  const wanted = catalogue.types.flatMap((type) =>
    Array.from({ length: catalogue.definition(type).version }, (_, index) => goldenFile(type, index + 1)),
  );
  const found = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')) : [];
  expect(found.filter((name) => !isVariant(name)).sort()).toEqual(wanted.sort());
  for (const name of found) {
    const fixture = readFixture(join(folder, name));
    const [decoded] = await new Codec(catalogue, new FixedKeys(fixture.keys), prefix).decode([storedOf(fixture)]);
    expect(goldenFile(decoded?.data.type ?? '', decoded?.metadata.schemaVersion ?? 0)).toBe(name.replace(variantOf, '.json'));
  }
}

/** Of `TeamCreated.v1.retention.json`: `.retention.json`. */
const variantOf = /(?<=\.v\d+)\.[a-z-]+\.json$/;
const isVariant = (name: string): boolean => variantOf.test(name);

async function fixtureOf<Event extends DomainEvent>(
  catalogue: EventCatalogue,
  { event, stream = { kind: 'golden', team, id: memory } }: Golden<Event>,
): Promise<Fixture> {
  const name = streamName(prefix, stream);
  const [encoded] = await new Codec(catalogue, new FixedKeys(), prefix).encode(name, undefined, [event], context);
  if (!encoded) throw new Error('one event in, none out');
  const { keyOwner } = catalogue.definition(event.type);
  const owner = event.sealed && keyOwner?.(event);
  return {
    event: { stream: name, ...encoded },
    keys: owner === undefined ? {} : { [owner]: fixedKey(stream.team, owner).toString('hex') },
  };
}

function readFixture(file: string): Fixture {
  if (!existsSync(file))
    throw new Error(`${file} is missing: run the test once with MNEME_TEST_UPDATE_FIXTURES=1 and commit what it writes`);
  return JSON.parse(readFileSync(file, 'utf8')) as Fixture;
}

const storedOf = ({ event }: Fixture): StoredEvent => ({
  ...event,
  revision: 0n,
  position: 0n,
  recordedAt: new Date('2026-01-02T03:04:05.678Z'),
});

/** The stored data without ciphertext, which is another each time; what is inside the box was compared after decoding. */
function shape(event: NewEvent | undefined): unknown {
  const data = JSON.parse(event?.data ?? '{}') as Record<string, unknown>;
  return { ...data, ...(data.sealed !== undefined && { sealed: Object.keys(data.sealed as object) }) };
}
