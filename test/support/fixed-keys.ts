import { createHash } from 'node:crypto';
import { KeyErased } from '../../src/encryption/errors.js';
import { type KeyRef, KeyRing, type KeySource, type KeyState } from '../../src/encryption/data-keys.js';

/** Data keys that follow from their names, for events that must decode the same in every run and need no database. */
export class FixedKeys implements KeySource {
  /** The owners of each call, in order. */
  readonly provisioned: (readonly string[])[] = [];
  readonly fetched: (readonly KeyRef[])[] = [];
  private readonly erased = new Set<string>();

  /** @param known hexadecimal keys by owner, instead of those that follow from the names; other owners then have none */
  constructor(private readonly known?: Readonly<Record<string, string>>) {}

  erase({ team, owner }: KeyRef): void {
    this.erased.add(`${team}|${owner}`);
  }

  provision(team: string, owners: readonly string[]): Promise<KeyRing> {
    this.provisioned.push(owners);
    const erased = owners.find((owner) => this.erased.has(`${team}|${owner}`));
    return erased === undefined ? this.fetch(owners.map((owner) => ({ team, owner }))) : Promise.reject(new KeyErased(erased));
  }

  fetch(refs: readonly KeyRef[]): Promise<KeyRing> {
    this.fetched.push(refs);
    return Promise.resolve(this.ring(refs));
  }

  private ring(refs: readonly KeyRef[]): KeyRing {
    return new KeyRing(refs.map((ref) => [ref, this.state(ref)]));
  }

  private state({ team, owner }: KeyRef): KeyState {
    if (this.erased.has(`${team}|${owner}`)) return { state: 'erased' };
    if (!this.known) return { state: 'active', key: fixedKey(team, owner) };
    const key = this.known[owner];
    return key === undefined ? { state: 'never_provisioned' } : { state: 'active', key: Buffer.from(key, 'hex') };
  }
}

export const fixedKey = (team: string, owner: string): Buffer =>
  createHash('sha256').update(`test key ${team}|${owner}`).digest();
