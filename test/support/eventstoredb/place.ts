/** A place in the log. An event stands where both are its offset; between events, `prepare` is 0. */
export interface Place {
  readonly commit: bigint;
  readonly prepare: bigint;
}

/** Before everything. */
export const beforeAll: Place = { commit: -1n, prepare: -1n };

export const placeOf = ({ position }: { readonly position: bigint }): Place => ({ commit: position, prepare: position });

/** Negative when the first is the earlier, 0 when they are the same. */
export function compare(one: Place, other: Place): number {
  return Number(one.commit - other.commit) || Number(one.prepare - other.prepare);
}
