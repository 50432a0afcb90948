/** Default size of all contexts of an answer together, UTF-8. */
export const defaultByteBudget = 32_768;

export interface Cuttable {
  readonly id: string;
  /** Size of its context, UTF-8. */
  readonly contextBytes: number;
}

export interface CutRule {
  /** Results wanted. */
  readonly limit: number;
  /** Bytes of all contexts together. */
  readonly byteBudget: number;
  /** What the caller has already; it takes no place. */
  readonly known?: ReadonlySet<string> | undefined;
  /** What was ranked and is no longer there or no longer allowed; the next fills its place. */
  readonly vanished?: ReadonlySet<string> | undefined;
}

export interface Selected {
  readonly id: string;
  /** Bytes of its context to show: all of them, or the whole budget when the first result alone exceeds it. */
  readonly bytes: number;
}

export type CutReason = 'known' | 'vanished' | 'byte_budget' | 'limit';

export interface Cut {
  readonly selected: readonly Selected[];
  /** Everything else, in the order of the ranking. */
  readonly dropped: readonly { readonly id: string; readonly reason: CutReason }[];
}

/**
 * The best that fit. What does not fit into what is left of the budget is passed over, so that a long text does not keep
 * the short ones behind it from the answer; only the first result is never passed over, but cut to the budget.
 */
export function cut(ranked: readonly Cuttable[], { limit, byteBudget, known, vanished }: CutRule): Cut {
  const selected: Selected[] = [];
  const dropped: { id: string; reason: CutReason }[] = [];
  let left = byteBudget;
  for (const { id, contextBytes } of ranked) {
    const bytes = selected.length === 0 ? Math.min(contextBytes, left) : contextBytes;
    const reason = reasonAgainst();
    if (reason) {
      dropped.push({ id, reason });
      continue;
    }
    selected.push({ id, bytes });
    left -= bytes;

    function reasonAgainst(): CutReason | undefined {
      if (known?.has(id)) return 'known';
      if (vanished?.has(id)) return 'vanished';
      if (selected.length >= limit) return 'limit';
      return bytes > left ? 'byte_budget' : undefined;
    }
  }
  return { selected, dropped };
}
