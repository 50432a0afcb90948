import { type ServerDuplexStream } from '@grpc/grpc-js';
import type streams from '@eventstore/db-client/generated/streams_pb.js';
import { hasUuid, sizeOf } from './append-service.js';
import { type BatchAppendFault } from './faults.js';
import * as messages from './messages.js';
import { disturbance, type Ending, type Node, perform, requireLeader } from './node.js';
import * as errors from './rpc-errors.js';
import { type Expected, type ProposedEvent } from './stored-events.js';

type BatchCall = ServerDuplexStream<streams.BatchAppendReq, streams.BatchAppendResp>;

interface Batch {
  readonly options: streams.BatchAppendReq.Options;
  readonly events: ProposedEvent[];
}

/**
 * BatchAppend: a stream of appends, each of one or more BatchAppendReq with the same correlation id, the first with
 * `options`, the last `is_final`; and a stream of answers, in whatever order, that carry the correlation id.
 */
export function batchAppend(node: Node) {
  return (call: BatchCall): void => {
    const ending = { call, fail: (error: errors.RpcError) => call.emit('error', error), end: () => call.end() };
    if (node.access(call.metadata) === 'wrong_password') return void ending.fail(errors.unauthenticated());
    const batches = new Map<string, Batch>();
    call.on('data', (request: streams.BatchAppendReq) => {
      if (call.writableEnded) return;
      const id = request.getCorrelationId()?.getString() ?? '';
      const options = request.getOptions();
      if (options) batches.set(id, { options, events: [] });
      const batch = batches.get(id);
      if (!batch) return; // the rest of an append that was answered before it was complete
      batch.events.push(...request.getProposedMessagesList().map(messages.proposedEvent));
      const refusal = refusalOf(node, call, batch);
      if (refusal || request.getIsFinal()) batches.delete(id);
      if (refusal) answer(call, request, messages.streamName(batch.options), refusal);
      else if (request.getIsFinal()) void carryOut(node, ending, request, batch);
    });
    const closed = node.faults.opened('batch_append', ({ kind }) => disturbance(node, ending, kind)?.());
    call
      .on('end', () => call.end())
      .on('cancelled', closed)
      .on('close', closed);
  };
}

/** What the server answers to an append before it has come to the store. */
function refusalOf(node: Node, { metadata }: BatchCall, { options, events }: Batch): streams.BatchAppendResp | undefined {
  if (node.access(metadata) === 'denied') return messages.batchAccessDenied();
  const deadline = options.getDeadline()?.toDate();
  if (deadline && deadline <= node.now()) return messages.batchTimeout();
  if (!events.every(hasUuid)) return messages.batchBadRequest();
  return sizeOf(events) > node.maxAppendSize ? messages.batchTooLarge(node.maxAppendSize) : undefined;
}

async function carryOut(
  node: Node,
  ending: Ending & { readonly call: BatchCall },
  request: streams.BatchAppendReq,
  { options, events }: Batch,
): Promise<void> {
  const [stream, expected] = [messages.streamName(options), expectedOf(options)];
  node.requests.add({ operation: 'batch_append', stream, ids: events.map(({ id }) => id), expected });
  const fault = node.faults.take('batch_append', stream);
  const answerInstead = fault && answersOf[fault.kind]?.(node);
  await perform(node, {
    ...ending,
    fault: answerInstead ? undefined : fault,
    work: () => {
      requireLeader(node, ending.call.metadata);
      if (answerInstead && !('stored' in fault && fault.stored)) return answerInstead;
      const result = node.events.append(stream, events, expected);
      if (answerInstead) return answerInstead;
      if (!('revision' in result)) return messages.batchRefusal(result, stream, expected);
      return messages.batchSuccess(fault?.kind === 'no_position' ? { ...result, position: undefined } : result);
    },
    answer: (response) => {
      answer(ending.call, request, stream, response);
      if (fault?.kind === 'duplicate') answer(ending.call, request, stream, response);
    },
  });
}

/** Faults that come as the answer of the one append, where others befall the whole stream. */
const answersOf: Partial<Record<BatchAppendFault['kind'], (node: Node) => streams.BatchAppendResp>> = {
  unavailable: () => messages.batchNotHandled('Server Is Not Ready'),
  too_busy: () => messages.batchNotHandled('Server Is Busy'),
  timeout: messages.batchTimeout,
  access_denied: messages.batchAccessDenied,
  unknown: messages.batchUnknown,
  too_large: (node) => messages.batchTooLarge(node.maxAppendSize),
};

function answer(call: BatchCall, request: streams.BatchAppendReq, stream: string, response: streams.BatchAppendResp): void {
  if (call.cancelled || call.writableEnded) return;
  call.write(response.setCorrelationId(request.getCorrelationId()).setStreamIdentifier(messages.streamIdentifier(stream)));
}

function expectedOf(options: streams.BatchAppendReq.Options): Expected {
  if (options.hasStreamPosition()) return BigInt(options.getStreamPosition());
  if (options.hasNoStream()) return 'no_stream';
  return options.hasStreamExists() ? 'stream_exists' : 'any';
}
