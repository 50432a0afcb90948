import { Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { createHmac } from 'node:crypto';
import { DataKeys } from '../encryption/data-keys.js';
import type { CommandContext } from '../event-log/command-context.js';
import { commandIdFromKey, deriveId } from '../event-log/ids.js';
import { canonicalJson, type JsonValue } from '../event-log/json.js';
import { HttpProblem, isHttpProblem, fieldProblem } from '../http/http-problem.js';
import { type ItemReceipt, ItemReceipts } from '../http/idempotency/item-receipts.js';
import type { Answer } from '../http/openapi.js';
import { bodyNotAnObject, unknownFields, validated } from '../http/validation/request.pipe.js';
import { BatchItemRequest, evidenceInput, limits } from './evidence-requests.js';
import type { BatchItemReceiptResponse } from './evidence-responses.js';
import { type BatchItem, type ItemOutcome, type ItemRefusal, RememberBatch } from './remember-batch.handler.js';

type ItemReply = Answer<BatchItemReceiptResponse>;

export interface BatchReply {
  readonly items: readonly ItemReply[];
  /** Of the last event of any item; -1 when all were refused. */
  readonly position: bigint;
}

/** An item that may be carried out; with `key`, what its own idempotency key names. */
type Read =
  ItemRefusal | (BatchItem & { readonly key: { readonly commandId: string; readonly fingerprint: string } | undefined });

/**
 * Reads a batch item by item, so that a bad one is refused alone, answers those whose idempotency key is known, and has the
 * others remembered.
 */
@Injectable()
export class EvidenceBatch {
  constructor(
    private readonly commands: CommandBus,
    private readonly keys: DataKeys,
    private readonly receipts: ItemReceipts,
  ) {}

  /** @throws HttpProblem for a body that is no batch; never for an item */
  async remember(context: CommandContext, body: unknown): Promise<BatchReply> {
    const secret = await this.keys.derived({ team: context.team, owner: context.team }, 'command');
    const read = await Promise.all(itemsOf(body).map((item, index) => readItem(item, index, context, secret)));
    const keyed = read.flatMap((item) => ('refused' in item || !item.key ? [] : [item.key.commandId]));
    const known = await this.receipts.find(context.team, keyed);
    const settled = settleKnown(read, known);
    const open = read.flatMap((item, index) => ('refused' in item || settled.has(index) ? [] : [{ ...item, index }]));
    const { outcomes, position } = await this.commands.execute(new RememberBatch(open));
    const fresh = open.flatMap(({ key, index }, place) => {
      const outcome = outcomes[place];
      if (!outcome) return [];
      settled.set(index, replyOf(index, outcome));
      return 'refused' in outcome || !key ? [] : [{ ...key, body: outcome, position }];
    });
    await this.receipts.keep(context.team, fresh);
    const items = read.map((item, index) => settled.get(index) ?? replyOf(index, item as ItemRefusal));
    const positions = [position, ...[...known.values()].map((receipt) => receipt.position)];
    return { items, position: positions.reduce((latest, one) => (one > latest ? one : latest), -1n) };
  }
}

/** Answers of those whose key was used before, by place; the same key on another item is refused. */
function settleKnown(read: readonly Read[], known: ReadonlyMap<string, ItemReceipt>): Map<number, ItemReply> {
  const settled = new Map<number, ItemReply>();
  const fingerprints = new Map([...known].map(([commandId, { fingerprint }]) => [commandId, fingerprint]));
  for (const [index, item] of read.entries()) {
    if ('refused' in item || !item.key) continue;
    const { commandId, fingerprint } = item.key;
    const first = fingerprints.get(commandId) ?? fingerprint;
    fingerprints.set(commandId, first);
    const receipt = known.get(commandId);
    if (first !== fingerprint)
      settled.set(index, replyOf(index, { refused: 'idempotency_key_reused', field: 'idempotency_key' }));
    else if (receipt) settled.set(index, replyOf(index, receipt.body as ItemOutcome));
  }
  return settled;
}

function replyOf(index: number, outcome: ItemOutcome): ItemReply {
  if ('refused' in outcome) {
    const { refused: code, field = null } = outcome;
    return { index, outcome: 'refused', evidence_id: null, status: null, source_id: null, code, field };
  }
  return { index, ...outcome, code: null, field: null };
}

/** @throws HttpProblem 400 `body_not_an_object`, `unknown_field`; 422 `validation_failed` for a list that is none, empty or too long */
function itemsOf(body: unknown): readonly unknown[] {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw bodyNotAnObject();
  const { items, ...others } = body as { items?: unknown };
  const unknown = Object.keys(others);
  if (unknown.length > 0) throw unknownFields(unknown);
  if (!Array.isArray(items) || items.length === 0 || items.length > limits.batch)
    throw fieldProblem('items', 'list', `must be a list of 1 to ${limits.batch} items`);
  return items;
}

async function readItem(item: unknown, index: number, context: CommandContext, secret: Buffer): Promise<Read> {
  try {
    const body = await validated(BatchItemRequest, item, 'json');
    const input = evidenceInput(body);
    const { idempotency_key } = body;
    if (idempotency_key === undefined)
      return { context: { ...context, commandId: deriveId(context.commandId, `item ${index}`) }, input, key: undefined };
    if (!/^[\x21-\x7e]+$/.test(idempotency_key))
      throw new HttpProblem(422, 'idempotency_key_invalid', { field: 'idempotency_key' });
    const fingerprint = createHmac('sha256', secret)
      .update(canonicalJson(item as JsonValue))
      .digest('hex');
    const key = { commandId: commandIdFromKey(secret, idempotency_key), fingerprint };
    return { context: { ...context, ...key }, input, key };
  } catch (error) {
    if (!isHttpProblem(error)) throw error;
    const { field } = error.options;
    return { refused: error.code, ...(field !== undefined && { field }) };
  }
}
