import { setTimeout as sleep } from 'node:timers/promises';
import { type Metadata } from '@grpc/grpc-js';
import { type CallFault, type ErrorFault, type Faults, type Operation } from './faults.js';
import * as errors from './rpc-errors.js';
import { type StoredEvents } from './stored-events.js';

/** A call a client has made. */
export interface Request {
  readonly operation: Operation;
  readonly stream: string;
  /** Ids of the events of an append. */
  readonly ids: readonly string[];
  readonly expected?: bigint | string;
}

/** One member of the cluster, as its services see it. */
export interface Node {
  readonly events: StoredEvents;
  readonly faults: Faults;
  readonly requests: Request[];
  /** Largest sum of the events of an append, in bytes. */
  readonly maxAppendSize: number;
  readonly offersBatchAppend: boolean;
  readonly version: string;
  isLeader(): boolean;
  leader(): errors.Endpoint;
  members(): readonly Member[];
  /** False for a call without the right name and password, when the server asks for them. */
  allows(metadata: Metadata): boolean;
  /** Resets the connection the call came by. */
  reset(call: { getPeer(): string }): void;
}

export interface Member extends errors.Endpoint {
  readonly id: string;
  readonly alive: boolean;
  readonly leader: boolean;
}

export interface Steps<T> {
  readonly call: { getPeer(): string; readonly cancelled: boolean };
  readonly fault: CallFault | { readonly kind: string } | undefined;
  /** What the server does with the request. May throw an RpcError. */
  work(): T;
  answer(result: T): void;
  fail(error: errors.RpcError): void;
  /** Ends the call with status OK. */
  end(): void;
}

/** Carries a call out, together with the fault it meets. */
export async function perform<T>(node: Node, steps: Steps<T>): Promise<void> {
  const fault = steps.fault as CallFault | undefined;
  if (fault?.kind === 'slow') await sleep(fault.ms, undefined, { ref: false });
  if (steps.call.cancelled) return;
  const disturbance = fault && !['slow', 'late'].includes(fault.kind) ? disturb(node, steps, fault) : undefined;
  const stored = fault !== undefined && 'stored' in fault && fault.stored;
  if (disturbance && !stored) return disturbance();
  let result: T;
  try {
    result = steps.work();
  } catch (error) {
    return steps.fail(error as errors.RpcError);
  }
  if (disturbance) return disturbance();
  if (fault?.kind === 'late') await sleep(fault.ms, undefined, { ref: false });
  steps.answer(result);
}

/** What the fault does in place of an answer; nothing when it is of a kind that answers. */
export function disturb(
  node: Node,
  { call, fail, end }: Pick<Steps<unknown>, 'call' | 'fail' | 'end'>,
  fault: { readonly kind: string },
): (() => void) | undefined {
  switch (fault.kind) {
    case 'silence':
      return () => undefined;
    case 'drop':
      return () => node.reset(call);
    case 'end':
      return end;
    default: {
      const error = errorOf(node, fault.kind as ErrorFault['kind']);
      return error && (() => fail(error));
    }
  }
}

function errorOf(node: Node, kind: ErrorFault['kind'] | 'too_large'): errors.RpcError | undefined {
  switch (kind) {
    case 'unavailable':
      return errors.serverNotReady();
    case 'too_busy':
      return errors.serverTooBusy();
    case 'not_leader':
      return errors.notLeader(node.leader());
    case 'timeout':
      return errors.timedOut();
    case 'access_denied':
      return errors.accessDenied();
    case 'cancelled':
      return errors.cancelled();
    case 'unknown':
      return errors.unknownError('Unexpected OperationResult: Error');
    case 'too_large':
      return errors.appendTooLarge(node.maxAppendSize);
    default:
      return undefined;
  }
}

/** Throws what the server answers before it looks at the request itself. */
export function admit(node: Node, metadata: Metadata): void {
  if (!node.allows(metadata)) throw errors.accessDenied();
  const needsLeader = metadata.get('requires-leader').includes('true');
  if (needsLeader && !node.isLeader()) throw errors.notLeader(node.leader());
}
