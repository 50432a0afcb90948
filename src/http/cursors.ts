import { Injectable } from '@nestjs/common';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { DataKeys, type KeyRef } from '../encryption/data-keys.js';
import { HttpProblem } from './http-problem.js';

/** Owner of the secret that cursors are signed with. */
const cursorSecret: KeyRef = { team: 'system', owner: 'cursors' };

/** 128 bits in base64url: as many as nobody guesses. */
const signatureLength = 22;

/** The list that a cursor belongs to: whose it is, its route with ids, and its filters. */
export type CursorPlace = readonly (string | null | Readonly<Record<string, unknown>>)[];

/**
 * Signs the cursors that lists give out, and takes back only those, for the list that gave them out. What a cursor says goes
 * into a query as the place to go on from; the team predicate stands beside it, but nobody should get to choose it.
 */
@Injectable()
export class Cursors {
  private secret: Promise<Buffer> | undefined;

  constructor(private readonly keys: DataKeys) {}

  async sign(cursor: string, place: CursorPlace): Promise<string> {
    return `${await this.signature(cursor, place)}${cursor}`;
  }

  /** @throws HttpProblem 422 `cursor_invalid` */
  async verified(signed: unknown, place: CursorPlace): Promise<string> {
    if (typeof signed !== 'string') throw cursorInvalid();
    const given = Buffer.from(signed.slice(0, signatureLength));
    const cursor = signed.slice(signatureLength);
    const expected = Buffer.from(await this.signature(cursor, place));
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw cursorInvalid();
    return cursor;
  }

  private async signature(cursor: string, place: CursorPlace): Promise<string> {
    const text = JSON.stringify([cursor, ...place]);
    return createHmac('sha256', await this.loadSecret())
      .update(text)
      .digest('base64url')
      .slice(0, signatureLength);
  }

  /** Kept for the life of the process: it is the installation's, and nothing erases it. */
  private loadSecret(): Promise<Buffer> {
    this.secret ??= this.keys.derived(cursorSecret, 'cursor').catch((error: unknown) => {
      this.secret = undefined;
      throw error;
    });
    return this.secret;
  }
}

const cursorInvalid = () => new HttpProblem(422, 'cursor_invalid', { field: 'cursor' });
