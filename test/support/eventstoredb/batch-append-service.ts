import { type ServerDuplexStream } from '@grpc/grpc-js';
import type streams from '@eventstore/db-client/generated/streams_pb.js';
import { positioned, sizeOf } from './append-service.js';
import { type BatchAppendFault } from './faults.js';
import * as messages from './messages.js';
import { type Node, perform } from './node.js';
import { type RpcError } from './rpc-errors.js';
import { type Expected, type ProposedEvent } from './stored-events.js';

type Call = ServerDuplexStream<streams.BatchAppendReq, streams.BatchAppendResp>;

interface Batch {
  readonly options: streams.BatchAppendReq.Options;
  readonly events: ProposedEvent[];
}

/**
 * BatchAppend: a stream of appends, each of one or more BatchAppendReq with the same correlation id, the first with
 * `options`, the last `is_final`; and a stream of answers, in whatever order, that carry the correlation id.
 */
export function batchAppend(node: Node) {
  return (call: Call): void => {
    const batches = new Map<string, Batch>();
    call.on('data', (request: streams.BatchAppendReq) => {
      const id = request.getCorrelationId()?.getString() ?? '';
      const options = request.getOptions();
      if (options && !batches.has(id)) batches.set(id, { options, events: [] });
      const batch = batches.get(id);
      if (!batch) return;
      batch.events.push(...request.getProposedMessagesList().map(messages.proposedEvent));
      if (sizeOf(batch.events) > node.maxAppendSize) {
        batches.delete(id);
        answer(call, request, messages.streamName(batch.options), messages.batchTooLarge(node.maxAppendSize));
      } else if (request.getIsFinal()) {
        batches.delete(id);
        void carryOut(node, call, request, batch);
      }
    });
    call.on('end', () => call.end());
    call.on('error', () => undefined);
  };
}

async function carryOut(node: Node, call: Call, request: streams.BatchAppendReq, { options, events }: Batch): Promise<void> {
  const [stream, expected] = [messages.streamName(options), expectedOf(options)];
  node.requests.push({ operation: 'batch_append', stream, ids: events.map(({ id }) => id), expected });
  const fault = node.faults.take('batch_append', stream);
  const reply = (response: streams.BatchAppendResp): void => answer(call, request, stream, response);
  const instead = fault && answerInstead(node, fault);
  await perform(node, {
    call,
    fault: instead ? undefined : fault,
    work: () => {
      if (!node.allows(call.metadata)) return messages.batchAccessDenied();
      if (instead && !('stored' in fault && fault.stored)) return instead;
      const result = node.events.append(stream, events, expected);
      if (instead) return instead;
      if (!('revision' in result)) return messages.batchRefusal(result, stream, expected);
      return messages.batchSuccess(positioned(result, fault));
    },
    answer: (response) => {
      reply(response);
      if (fault?.kind === 'duplicate') reply(response);
    },
    fail: (error: RpcError) => call.emit('error', error),
    end: () => call.end(),
  });
}

/** These come as the answer of the one append, where others end the whole stream. */
function answerInstead(node: Node, { kind }: BatchAppendFault): streams.BatchAppendResp | undefined {
  switch (kind) {
    case 'unavailable':
      return messages.batchNotHandled('Server Is Not Ready');
    case 'too_busy':
      return messages.batchNotHandled('Server Is Busy');
    case 'timeout':
      return messages.batchTimeout();
    case 'access_denied':
      return messages.batchAccessDenied();
    case 'unknown':
      return messages.batchUnknown();
    case 'too_large':
      return messages.batchTooLarge(node.maxAppendSize);
    default:
      return undefined;
  }
}

function answer(call: Call, request: streams.BatchAppendReq, stream: string, response: streams.BatchAppendResp): void {
  if (call.cancelled || call.writableEnded) return;
  call.write(response.setCorrelationId(request.getCorrelationId()).setStreamIdentifier(messages.streamIdentifier(stream)));
}

function expectedOf(options: streams.BatchAppendReq.Options): Expected {
  if (options.hasStreamPosition()) return BigInt(options.getStreamPosition());
  if (options.hasNoStream()) return 'no_stream';
  return options.hasStreamExists() ? 'stream_exists' : 'any';
}
