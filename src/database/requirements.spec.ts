import { freshDatabase } from '../../test/support/database.js';
import { checkRequirements, type ServerFacts, unmetRequirement } from './requirements.js';

const good: ServerFacts = { number: 170_004, version: '17.4', vector: { installed: '0.8.0', available: '0.8.1' } };

describe('what a PostgreSQL server must have', () => {
  it.each<[string, Partial<ServerFacts>]>([
    ['PostgreSQL 15', { number: 150_000, version: '15.0' }],
    ['PostgreSQL 18', { number: 180_006, version: '18.6' }],
    ['pgvector that is still to be installed', { vector: { installed: null, available: '0.8.0' } }],
    ['pgvector 0.10', { vector: { installed: '0.10.0', available: '0.10.0' } }],
    ['pgvector 1.0', { vector: { installed: '1.0.0', available: '1.0.0' } }],
  ])('is met by %s', (_, facts) => expect(unmetRequirement({ ...good, ...facts })).toBeUndefined());

  it.each<[string, Partial<ServerFacts>, RegExp]>([
    ['PostgreSQL 14', { number: 140_011, version: '14.11' }, /PostgreSQL 14\.11 is too old: use PostgreSQL 15/],
    ['no pgvector', { vector: undefined }, /has no pgvector: install it \(package postgresql-17-pgvector/],
    [
      'an old pgvector',
      { vector: { installed: '0.7.4', available: '0.8.1' } },
      /pgvector 0\.7\.4 is too old.*ALTER EXTENSION vector UPDATE/,
    ],
    ['an old pgvector to install', { vector: { installed: null, available: '0.5.1' } }, /pgvector 0\.5\.1 is too old: install/],
  ])('is not met by %s, and the message says what to do', (_, facts, message) =>
    expect(unmetRequirement({ ...good, ...facts })).toMatch(message),
  );

  it('is met by the database of this run', async () => {
    const database = await freshDatabase();
    await checkRequirements(database);
    await database.close();
  });
});
