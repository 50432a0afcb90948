import { createHmac, randomBytes } from 'node:crypto';
import type { KeyRef } from '../encryption/data-keys.js';

/** Owner of the pepper that API keys are hashed with. */
export const pepperRef: KeyRef = { team: 'system', owner: 'api-keys' };

/** `mneme_` and 32 random bytes. */
export const newApiKey = (): string => `mneme_${randomBytes(32).toString('base64url')}`;

/** Whether a text could be one of ours: others are refused without asking the database. */
export const isApiKey = (text: string): boolean => /^mneme_[A-Za-z0-9_-]{43}$/.test(text);

/** A keyed hash, fast on purpose: the key has 256 random bits, which no slow hash could make harder to guess. */
export const apiKeyHash = (pepper: Buffer, key: string): Buffer => createHmac('sha256', pepper).update(key).digest();
