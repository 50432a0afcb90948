import { setTimeout as sleep } from 'node:timers/promises';
import { type Metadata } from '@grpc/grpc-js';
import { type CallFault, type ErrorKind, type Faults } from './faults.js';
import { type Requests } from './requests.js';
import * as errors from './rpc-errors.js';
import { type StoredEvents } from './stored-events.js';

/** One member of the cluster, as its services see it. */
export interface Node {
  readonly events: StoredEvents;
  readonly faults: Faults;
  readonly requests: Requests;
  /** Largest sum of the events of an append, in bytes. */
  readonly maxAppendSize: number;
  readonly offersBatchAppend: boolean;
  readonly checkpointsAhead: boolean;
  readonly tellsCaughtUp: boolean;
  readonly now: () => Date;
  isLeader(): boolean;
  leader(): errors.Endpoint;
  members(): readonly Member[];
  access(metadata: Metadata): 'granted' | 'denied' | 'wrong_password';
  /** Resets the connection the call came by. */
  reset(call: Call): void;
}

export interface Member extends errors.Endpoint {
  readonly id: string;
  readonly alive: boolean;
  readonly leader: boolean;
}

export interface Call {
  readonly metadata: Metadata;
  readonly cancelled: boolean;
  getPeer(): string;
}

/** How a service ends a call. */
export interface Ending {
  readonly call: Call;
  readonly fail: (error: errors.RpcError) => void;
  /** Ends the call with status OK. */
  readonly end: () => void;
}

export interface Steps<T> extends Ending {
  readonly fault: { readonly kind: string } | undefined;
  /** What the server does with the request. May throw an RpcError. */
  work(): T;
  answer(result: T): void;
}

/** Carries a call out, together with the fault it meets. */
export async function perform<T>(node: Node, steps: Steps<T>): Promise<void> {
  const fault = steps.fault as CallFault | undefined;
  if (fault?.kind === 'slow') await sleep(fault.ms, undefined, { ref: false });
  if (steps.call.cancelled) return;
  const instead = fault && disturbance(node, steps, fault.kind);
  if (instead && !('stored' in fault && fault.stored)) return instead();
  let result: T;
  try {
    result = steps.work();
  } catch (error) {
    if (!(error instanceof errors.RpcError)) throw error;
    return steps.fail(error);
  }
  if (instead) return instead();
  if (fault?.kind === 'late') await sleep(fault.ms, undefined, { ref: false });
  steps.answer(result);
}

/** What is done in place of an answer; nothing for a fault that answers. */
export function disturbance(node: Node, { call, fail, end }: Ending, kind: string): (() => void) | undefined {
  if (kind === 'silence') return () => undefined;
  if (kind === 'drop') return () => node.reset(call);
  if (kind === 'end') return end;
  const make = errorsOf[kind as ErrorKind | 'too_large'] as ((node: Node) => errors.RpcError) | undefined;
  return make && (() => fail(make(node)));
}

const errorsOf: Record<ErrorKind | 'too_large', (node: Node) => errors.RpcError> = {
  unavailable: errors.serverNotReady,
  too_busy: errors.serverTooBusy,
  not_leader: (node) => errors.notLeader(node.leader()),
  timeout: errors.timedOut,
  access_denied: errors.accessDenied,
  cancelled: errors.cancelled,
  unknown: () => errors.unknownError('Unexpected OperationResult: Error'),
  too_large: (node) => errors.appendTooLarge(node.maxAppendSize),
};

/** @throws RpcError what the server answers before it looks at the request itself */
export function admit(node: Node, { metadata }: Call): void {
  const access = node.access(metadata);
  if (access === 'wrong_password') throw errors.unauthenticated();
  if (access === 'denied') throw errors.accessDenied();
  requireLeader(node, metadata);
}

/** A member that follows passes writes on to the leader, unless the caller wants the leader itself. */
export function requireLeader(node: Node, metadata: Metadata): void {
  if (metadata.get('requires-leader').includes('true') && !node.isLeader()) throw errors.notLeader(node.leader());
}
