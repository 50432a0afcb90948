/** Answers with an error, before anything was stored or, with `stored`, after. */
export interface ErrorFault {
  readonly kind: ErrorKind;
  readonly stored?: boolean;
}

export type ErrorKind = 'unavailable' | 'too_busy' | 'not_leader' | 'timeout' | 'access_denied' | 'cancelled' | 'unknown';

/** What may go wrong with any call. */
export type CallFault =
  | ErrorFault
  /** Never answers. */
  | { readonly kind: 'silence'; readonly stored?: boolean }
  /** Waits so many milliseconds, then does it and answers. */
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

/** Ends the call with status OK. */
export interface EndFault {
  readonly kind: 'end';
  readonly stored?: boolean;
}

/** What may go wrong with an append on a batch stream. Some of it befalls the whole stream. */
export type BatchAppendFault =
  | AppendFault
  | EndFault
  /** Answers twice. */
  | { readonly kind: 'duplicate' };

/** What may go wrong with a read or a subscription: at once, or in place of the event after so many. */
export type ReadFault = (CallFault | EndFault) & { readonly afterEvents?: number };

export interface FaultsOf {
  readonly append: AppendFault;
  readonly batch_append: BatchAppendFault;
  readonly read_stream: ReadFault;
  readonly read_all: ReadFault;
  readonly subscribe: ReadFault;
  readonly delete: CallFault;
  readonly tombstone: CallFault;
  readonly server_features: CallFault;
  readonly gossip: CallFault;
}

export type Operation = keyof FaultsOf;

/** What may befall a call that stays open, while it is idle. */
export type OpenCallFault =
  | { readonly kind: ErrorKind | 'drop' | 'end' | 'silence' }
  /** Sends `fell_behind`, catches up and sends `caught_up` again; only subscriptions. */
  | { readonly kind: 'fall_behind' };

/** The calls that stay open. */
export type OpenOperation = 'batch_append' | 'subscribe';

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

type Strike = (fault: OpenCallFault) => void;

/** Faults that wait for the calls they will meet. Of several for one operation, each call meets the oldest. */
export class Faults {
  /** How many calls have met a fault. */
  met = 0;
  private pending: Pending[] = [];
  private readonly open = { batch_append: new Set<Strike>(), subscribe: new Set<Strike>() };

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

  /** Befalls every batch stream or subscription that is open now. @returns how many those were */
  strike(operation: OpenOperation, fault: OpenCallFault): number {
    const calls = [...this.open[operation]];
    for (const strike of calls) strike(fault);
    this.met += calls.length;
    return calls.length;
  }

  /** Called by a service when a call opens. @returns to be called when it is over */
  opened(operation: OpenOperation, strike: Strike): () => void {
    this.open[operation].add(strike);
    return () => this.open[operation].delete(strike);
  }

  /** Called by a service: the fault that meets this call. */
  take<O extends Operation>(operation: O, stream: string): FaultsOf[O] | undefined {
    this.pending = this.pending.filter(({ left }) => left > 0);
    const found = this.pending.find((fault) => fault.operation === operation && stream.startsWith(fault.stream));
    if (!found) return undefined;
    found.left -= 1;
    this.met += 1;
    return found.fault as FaultsOf[O];
  }
}
