import { type Message } from 'google-protobuf';
import any from 'google-protobuf/google/protobuf/any_pb.js';
import empty from 'google-protobuf/google/protobuf/empty_pb.js';
import codes from '@eventstore/db-client/generated/code_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import status from '@eventstore/db-client/generated/status_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { type Place } from './place.js';
import { type Expected, type ProposedEvent, type StoredEvent, type WriteResult } from './stored-events.js';

type Refused = Exclude<WriteResult, { result: 'written' | 'repeated' }>;
type Written = Extract<WriteResult, { result: 'written' | 'repeated' }>;

export function proposedEvent(
  message: streams.AppendReq.ProposedMessage | streams.BatchAppendReq.ProposedMessage,
): ProposedEvent {
  return {
    id: (message.getId()?.getString() ?? '').toLowerCase(),
    type: message.getMetadataMap().get('type') ?? '',
    json: message.getMetadataMap().get('content-type') === 'application/json',
    data: message.getData_asU8(),
    metadata: message.getCustomMetadata_asU8(),
  };
}

export const streamName = (message: { getStreamIdentifier(): shared.StreamIdentifier | undefined } | undefined): string =>
  Buffer.from(message?.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString('utf8');

export const streamIdentifier = (name: string): shared.StreamIdentifier =>
  new shared.StreamIdentifier().setStreamName(Buffer.from(name, 'utf8'));

/** `event` of a ReadResp. */
export function readEvent(event: StoredEvent): streams.ReadResp {
  const recorded = new streams.ReadResp.ReadEvent.RecordedEvent()
    .setId(new shared.UUID().setString(event.id))
    .setStreamIdentifier(streamIdentifier(event.stream))
    .setStreamRevision(String(event.revision))
    .setCommitPosition(String(event.position))
    .setPreparePosition(String(event.position))
    .setData(event.data)
    .setCustomMetadata(event.metadata);
  recorded
    .getMetadataMap()
    .set('type', event.type)
    .set('created', String(event.created))
    .set('content-type', event.json ? 'application/json' : 'application/octet-stream');
  return new streams.ReadResp().setEvent(
    new streams.ReadResp.ReadEvent().setEvent(recorded).setCommitPosition(String(event.position)),
  );
}

export const streamNotFound = (name: string): streams.ReadResp =>
  new streams.ReadResp().setStreamNotFound(new streams.ReadResp.StreamNotFound().setStreamIdentifier(streamIdentifier(name)));

export const confirmation = (id: string): streams.ReadResp =>
  new streams.ReadResp().setConfirmation(new streams.ReadResp.SubscriptionConfirmation().setSubscriptionId(id));

export const checkpoint = ({ commit, prepare }: Place): streams.ReadResp =>
  new streams.ReadResp().setCheckpoint(
    new streams.ReadResp.Checkpoint().setCommitPosition(String(commit)).setPreparePosition(String(prepare)),
  );

export const caughtUp = (): streams.ReadResp => new streams.ReadResp().setCaughtUp(new streams.ReadResp.CaughtUp());
export const fellBehind = (): streams.ReadResp => new streams.ReadResp().setFellBehind(new streams.ReadResp.FellBehind());

/** `success` of an AppendResp. Without a position it has `no_position`. */
export function appendSuccess({ revision, position }: Written): streams.AppendResp {
  const success = new streams.AppendResp.Success();
  if (revision === 'no_stream') success.setNoStream(new shared.Empty());
  else success.setCurrentRevision(String(revision));
  if (position === undefined) success.setNoPosition(new shared.Empty());
  else {
    const at = new streams.AppendResp.Position().setCommitPosition(String(position)).setPreparePosition(String(position));
    success.setPosition(at);
  }
  return new streams.AppendResp().setSuccess(success);
}

/** `wrong_expected_version` of an AppendResp. */
export function appendWrongVersion(current: bigint | 'no_stream', expected: Expected): streams.AppendResp {
  const wrong = new streams.AppendResp.WrongExpectedVersion();
  if (current === 'no_stream') wrong.setCurrentNoStream(new shared.Empty());
  else wrong.setCurrentRevision(String(current));
  if (expected === 'any') wrong.setExpectedAny(new shared.Empty());
  else if (expected === 'stream_exists') wrong.setExpectedStreamExists(new shared.Empty());
  else if (expected === 'no_stream') wrong.setExpectedNoStream(new shared.Empty());
  else wrong.setExpectedRevision(String(expected));
  return new streams.AppendResp().setWrongExpectedVersion(wrong);
}

/** `success` of a BatchAppendResp. Without a position it has `no_position`. */
export function batchSuccess({ revision, position }: Written): streams.BatchAppendResp {
  const success = new streams.BatchAppendResp.Success();
  if (revision === 'no_stream') success.setNoStream(new empty.Empty());
  else success.setCurrentRevision(String(revision));
  if (position === undefined) success.setNoPosition(new empty.Empty());
  else {
    const at = new shared.AllStreamPosition().setCommitPosition(String(position)).setPreparePosition(String(position));
    success.setPosition(at);
  }
  return new streams.BatchAppendResp().setSuccess(success);
}

/** `error` of a BatchAppendResp: a google.rpc.Status whose details say what it is. */
export function batchError(
  code: codes.Code,
  name: string,
  details: Message,
  type = `event_store.client.${name}`,
): streams.BatchAppendResp {
  const packed = new any.Any();
  packed.pack(details.serializeBinary(), type);
  const error = new status.Status().setCode(code).setMessage(name).setDetails(packed);
  return new streams.BatchAppendResp().setError(error);
}

export function batchRefusal(refused: Refused, stream: string, expected: Expected): streams.BatchAppendResp {
  if (refused.result === 'stream_deleted') {
    return batchError(
      codes.Code.NOT_FOUND,
      'StreamDeleted',
      new shared.StreamDeleted().setStreamIdentifier(streamIdentifier(stream)),
    );
  }
  const wrong = new shared.WrongExpectedVersion();
  if (refused.current === 'no_stream') wrong.setCurrentNoStream(new empty.Empty());
  else wrong.setCurrentStreamRevision(String(refused.current));
  if (expected === 'any') wrong.setExpectedAny(new empty.Empty());
  else if (expected === 'stream_exists') wrong.setExpectedStreamExists(new empty.Empty());
  else if (expected === 'no_stream') wrong.setExpectedNoStream(new empty.Empty());
  else wrong.setExpectedStreamPosition(String(expected));
  return batchError(codes.Code.ALREADY_EXISTS, 'WrongExpectedVersion', wrong);
}

export const batchTooLarge = (maximum: number): streams.BatchAppendResp =>
  batchError(
    codes.Code.INVALID_ARGUMENT,
    'MaximumAppendSizeExceeded',
    new shared.MaximumAppendSizeExceeded().setMaxappendsize(maximum),
  );
export const batchAccessDenied = (): streams.BatchAppendResp =>
  batchError(codes.Code.PERMISSION_DENIED, 'AccessDenied', new shared.AccessDenied());
export const batchTimeout = (): streams.BatchAppendResp =>
  batchError(codes.Code.DEADLINE_EXCEEDED, 'Timeout', new shared.Timeout());
export const batchBadRequest = (): streams.BatchAppendResp =>
  batchError(codes.Code.INVALID_ARGUMENT, 'BadRequest', new shared.BadRequest().setMessage('not a UUID'));
export const batchUnknown = (): streams.BatchAppendResp => batchError(codes.Code.UNKNOWN, 'Unknown', new shared.Unknown());
/** A server that is not ready or too busy has no type of its own here, only a sentence. */
export const batchNotHandled = (sentence: string): streams.BatchAppendResp =>
  batchError(codes.Code.OK, sentence, new empty.Empty(), 'google.protobuf.Empty');
