import type { Projection } from './projection.js';
import { historyName } from './table-sql.js';

const projectionName = /^[a-z][a-z0-9_]{0,39}$/;

/** What the code projects: one or several versions of each projection. */
export class Declared {
  /** In the order of their first mention. */
  readonly names: readonly string[];
  private readonly versions = new Map<string, Map<number, Projection>>();

  /** @throws Error when two projections, or tables of two of them, have one name, or a name cannot be part of a schema's */
  constructor(projections: readonly Projection[]) {
    const owners = new Map<string, string>();
    for (const projection of projections) {
      this.add(projection);
      for (const table of tableNames(projection)) {
        if ((owners.get(table) ?? projection.name) !== projection.name) throw new Error(`two tables are named ${table}`);
        owners.set(table, projection.name);
      }
    }
    this.names = [...this.versions.keys()];
  }

  has(name: string): boolean {
    return this.versions.has(name);
  }

  of({ name, version }: { readonly name: string; readonly version: number }): Projection | undefined {
    return this.versions.get(name)?.get(version);
  }

  /** The highest version. */
  latest(name: string): Projection | undefined {
    const versions = this.versions.get(name);
    return versions?.get(Math.max(...versions.keys()));
  }

  private add(projection: Projection): void {
    const { name, version } = projection;
    if (!projectionName.test(name))
      throw new Error(`${name} is no name for a projection: lower-case snake case, at most 40 characters`);
    if (!Number.isInteger(version) || version < 1) throw new Error(`the projection ${name} has version ${version}`);
    const versions = this.versions.get(name) ?? new Map<number, Projection>();
    if (versions.has(version)) throw new Error(`two projections are named ${name} and have version ${version}`);
    this.versions.set(name, versions.set(version, projection));
  }
}

/** @throws Error when two are equal */
function tableNames({ tables }: Projection): string[] {
  const names = tables.flatMap(({ name, history }) => [name, ...(history ? [historyName(name)] : [])]);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`two tables are named ${twice}`);
  return names;
}
