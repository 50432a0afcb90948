import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../config/package-root.js';
import type { Database } from '../database/database.js';
import { isDatabaseFailure, isDatabaseUnavailable } from '../database/errors.js';
import { readServerFacts, unmetRequirement, type ServerFacts } from '../database/requirements.js';
import { clockSkew } from './clock.check.js';
import { findingsOf, type Finding } from './finding.js';

const { ok, warning, failed } = findingsOf('database');

/** The last release that our tests ran on, as `server_version_num`; a newer one may well work. */
const firstUntriedPostgres = 190_000;

export interface DatabaseState {
  readonly findings: readonly Finding[];
  /** It answers, and all tables are there. */
  readonly usable: boolean;
}

/** Connection, versions, rights, migrations and clock. Changes nothing. */
export async function checkDatabase(database: Database, now: () => number): Promise<DatabaseState> {
  let facts: ServerFacts;
  try {
    facts = await readServerFacts(database);
  } catch (error) {
    return { findings: [unreachable(error)], usable: false };
  }
  const server = serverFinding(facts);
  if (server.severity === 'failed') return { findings: [server], usable: false };
  try {
    const migrations = migrationFinding(await appliedMigrations(database), ownMigrations());
    const rights = rightsFinding(await readRights(database));
    const skew = await databaseClock(database, now);
    return { findings: [server, rights, migrations.finding, skew], usable: migrations.level };
  } catch (error) {
    return { findings: [server, unreachable(error)], usable: false };
  }
}

/** What the states mean that a server refuses a new user with; class 28 is "invalid authorization". */
const refusals: readonly [RegExp, string, string][] = [
  [/^28/, 'the server refuses the user or the password', 'correct them in DATABASE_URL, or the rules of pg_hba.conf'],
  [/^3D000$/, 'the database does not exist', 'create it, or correct its name in DATABASE_URL'],
  [/^42501$/, 'the user lacks a right', 'docs/cli.md lists the rights it needs, under "On a PostgreSQL server"'],
  [/^53300$/, 'the server takes no more connections', 'raise its max_connections, or lower MNEME_DATABASE_POOL'],
];

export function unreachable(error: unknown): Finding {
  const state = isDatabaseFailure(error) || isDatabaseUnavailable(error) ? error.sqlState : undefined;
  const [, message, advice] = refusals.find(([states]) => state !== undefined && states.test(state)) ?? [];
  if (message !== undefined && advice !== undefined) return failed(`${message} (SQLSTATE ${state})`, advice);
  if (state !== undefined) return failed(`a statement failed (SQLSTATE ${state})`, 'look into the log of the server');
  return failed('the server cannot be reached', 'start it, or correct host and port in DATABASE_URL');
}

export function serverFinding(facts: ServerFacts): Finding {
  const problem = unmetRequirement(facts);
  if (problem !== undefined) {
    const [message = problem, advice = 'see docs/cli.md'] = problem.split(/: (.*)/s);
    return failed(message, advice);
  }
  const { number, version, vector } = facts;
  const message = `PostgreSQL ${version} with pgvector ${vector?.installed ?? `${vector?.available}, not installed yet`}`;
  if (number >= firstUntriedPostgres) return warning(message, 'PostgreSQL 15 to 18 are what was tried');
  return ok(message);
}

export interface Rights {
  /** May make schemas: a rebuild needs one. */
  readonly create: boolean;
  /** May make roles, as the first migration does. */
  readonly createRole: boolean;
  readonly missingRoles: readonly string[];
  /** Roles that are there but that the user may not switch to. */
  readonly foreignRoles: readonly string[];
  /** Roles of ours that bypass row-level security, which separates the teams. */
  readonly bypassing: readonly string[];
}

const roles = ['mneme_app', 'mneme_projector', 'mneme_system'];

async function readRights(database: Database): Promise<Rights> {
  const [user] = await database.query<{ create: boolean; create_role: boolean }>(
    `SELECT has_database_privilege(current_database(), 'CREATE') AS "create", rolcreaterole OR rolsuper AS create_role
     FROM pg_roles WHERE rolname = current_user`,
  );
  const found = await database.query<{ name: string; member: boolean; bypasses: boolean }>(
    `SELECT rolname AS name, pg_has_role(current_user, oid, 'MEMBER') AS member, rolbypassrls OR rolsuper AS bypasses
     FROM pg_roles WHERE rolname = ANY($1)`,
    [roles],
  );
  return {
    create: user?.create ?? false,
    createRole: user?.create_role ?? false,
    missingRoles: roles.filter((role) => !found.some(({ name }) => name === role)),
    foreignRoles: found.filter(({ member }) => !member).map(({ name }) => name),
    bypassing: found.filter(({ bypasses }) => bypasses).map(({ name }) => name),
  };
}

export function rightsFinding({ create, createRole, missingRoles, foreignRoles, bypassing }: Rights): Finding {
  if (!create) return failed('the user may not make schemas', 'GRANT CREATE ON DATABASE ... TO the user of DATABASE_URL');
  if (missingRoles.length > 0 && !createRole)
    return failed(`the user may not make the roles ${missingRoles.join(', ')}`, 'ALTER ROLE the user of DATABASE_URL CREATEROLE');
  if (foreignRoles.length > 0)
    return failed(
      `the user may not switch to ${foreignRoles.join(', ')}`,
      `GRANT ${foreignRoles.join(', ')} TO the user of DATABASE_URL WITH ADMIN OPTION`,
    );
  if (bypassing.length > 0)
    return failed(
      `${bypassing.join(', ')} bypass row-level security, which keeps teams apart`,
      `ALTER ROLE ${bypassing[0]} NOSUPERUSER NOBYPASSRLS, and the others likewise`,
    );
  return ok('the user has the rights it needs');
}

const ownMigrations = (): string[] =>
  readdirSync(join(packageRoot, 'migrations'))
    .filter((name) => name.endsWith('.sql'))
    .map((name) => name.replace(/\.sql$/, ''))
    .sort();

/** Undefined when none ever ran. */
async function appliedMigrations(database: Database): Promise<string[] | undefined> {
  const [table] = await database.query<{ there: boolean }>(`SELECT to_regclass('mneme.migrations') IS NOT NULL AS there`);
  if (!table?.there) return undefined;
  return (await database.query<{ name: string }>('SELECT name FROM mneme.migrations')).map(({ name }) => name);
}

export function migrationFinding(
  applied: readonly string[] | undefined,
  own: readonly string[],
): { finding: Finding; level: boolean } {
  if (applied === undefined) return { finding: ok('it is empty; the first start makes its tables'), level: false };
  const newer = applied.filter((name) => !own.includes(name));
  if (newer.length > 0)
    return {
      finding: failed(`it was migrated by a newer Mneme (${newer.join(', ')})`, 'run that version, or a newer one'),
      level: false,
    };
  const pending = own.filter((name) => !applied.includes(name));
  if (pending.length > 0)
    return {
      finding: warning(`${pending.length} migrations are to be run`, 'mneme migrate runs them, and so does the next start'),
      level: false,
    };
  return { finding: ok(`all ${own.length} migrations have run`), level: true };
}

async function databaseClock(database: Database, now: () => number): Promise<Finding> {
  const before = now();
  const [row] = await database.query<{ now: number }>(`SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now`);
  const after = now();
  return clockSkew('the database', { theirs: row?.now ?? after, ours: (before + after) / 2, uncertainty: (after - before) / 2 });
}
