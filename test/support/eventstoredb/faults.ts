/** Answers with an error, before anything was stored or, with `stored`, after. */
export interface ErrorFault {
  readonly kind: 'unavailable' | 'too_busy' | 'not_leader' | 'timeout' | 'access_denied' | 'cancelled' | 'unknown';
  readonly stored?: boolean;
}

/** What may go wrong with any call. */
export type CallFault =
  | ErrorFault
  /** Never answers. */
  | { readonly kind: 'silence'; readonly stored?: boolean }
  /** Does it after so many milliseconds. */
  | { readonly kind: 'slow'; readonly ms: number }
  /** Does it at once and answers after so many milliseconds. */
  | { readonly kind: 'late'; readonly ms: number }
  /** Resets the connection. */
  | { readonly kind: 'drop'; readonly stored?: boolean };

/** What may go wrong with an append. */
export type AppendFault =
  | CallFault
  /** Answers that it is too large. */
  | { readonly kind: 'too_large' }
  /** Answers success without a position. */
  | { readonly kind: 'no_position' };

/** What may go wrong with an append on a batch stream. */
export type BatchAppendFault =
  | AppendFault
  /** Answers twice. */
  | { readonly kind: 'duplicate' }
  /** Ends the batch stream with status OK and no answer. */
  | { readonly kind: 'end'; readonly stored?: boolean };

/** What may go wrong with a read or subscription, after it has answered so many events (default 0). */
export type ReadFault = (CallFault | { readonly kind: 'end' }) & { readonly afterEvents?: number };

export interface FaultsOf {
  readonly append: AppendFault;
  readonly batch_append: BatchAppendFault;
  readonly read_stream: ReadFault;
  readonly read_all: ReadFault;
  readonly subscribe: ReadFault;
  readonly delete: AppendFault;
  readonly tombstone: AppendFault;
  readonly server_features: CallFault;
  readonly gossip: CallFault;
}

export type Operation = keyof FaultsOf;

export interface FaultOptions {
  /** How many calls it meets; default 1. */
  readonly times?: number | 'until_cleared';
  /** Only calls on streams whose name starts with this. Calls on all have the name `$all`. */
  readonly stream?: string;
}

interface Pending {
  readonly operation: Operation;
  readonly fault: FaultsOf[Operation];
  readonly stream: string;
  left: number;
}

/** Faults that wait for the calls they will meet. Several for one operation meet it one after the other. */
export class Faults {
  /** How many calls met a fault. */
  met = 0;
  private pending: Pending[] = [];

  /** @returns takes it back */
  inject<O extends Operation>(operation: O, fault: FaultsOf[O], options: FaultOptions = {}): () => void {
    const { times = 1, stream = '' } = options;
    const pending = { operation, fault, stream, left: times === 'until_cleared' ? Infinity : times };
    this.pending.push(pending);
    return () => void (pending.left = 0);
  }

  clear(): void {
    this.pending = [];
  }

  /** The fault that meets this call, used up by one. */
  take<O extends Operation>(operation: O, stream: string): FaultsOf[O] | undefined {
    this.pending = this.pending.filter(({ left }) => left > 0);
    const found = this.pending.find((fault) => fault.operation === operation && stream.startsWith(fault.stream));
    if (!found) return undefined;
    found.left -= 1;
    this.met += 1;
    return found.fault as FaultsOf[O];
  }
}
