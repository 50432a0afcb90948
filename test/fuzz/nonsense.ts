import type { Random } from './random.js';
import type { Sending } from './wire.js';

type Nonsense = Sending & { readonly what: string };

const utf8 = (text: string): Buffer => Buffer.from(text);
const list = 'GET /v1/procedures HTTP/1.1';
const recall = 'POST /v1/procedures/recall HTTP/1.1';
const json = 'content-type: application/json';
const question = '{"question":"q"}';

/** Whole texts of a connection that are no proper HTTP, or proper and mean. `key` is the line of the key, if there is one. */
const texts: readonly ((word: string, key: string) => string)[] = [
  (word) => `${word}\r\n\r\n`,
  (word) => `GET /${word}\r\n\r\n`,
  (word, key) => `GET /v1/procedures HTTP/9.9\r\nhost: x\r\n${key}x: ${word}\r\n\r\n`,
  (_, key) => `GET /v1/procedures HTTP/1.0\r\n${key}\r\n`,
  (_, key) => `GET /v1/procedures HTTP/1.1\r\n${key}connection: close\r\n\r\n`, // no host
  (word) => `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${word}`,
  (word, key) => `get /v1/procedures HTTP/1.1\r\nhost: ${word}\r\n${key}\r\n`,
  (word, key) => `${word} /v1/procedures HTTP/1.1\r\nhost: x\r\n${key}\r\n`,
  (word, key) => `CONNECT ${word}:443 HTTP/1.1\r\nhost: x\r\n${key}\r\n`,
  (_, key) => `OPTIONS * HTTP/1.1\r\nhost: x\r\n${key}connection: close\r\n\r\n`,
  (_, key) => `TRACE /v1/procedures HTTP/1.1\r\nhost: x\r\n${key}connection: close\r\n\r\n`,
  (word, key) => `GET http://${word}/v1/procedures HTTP/1.1\r\nhost: x\r\n${key}connection: close\r\n\r\n`,
  (word, key) => `${list}\r\nhost: x\r\n${key}upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-key: ${word}\r\n\r\n`,
  (_, key) =>
    `${list}\r\nhost: x\r\n${key}upgrade: h2c\r\nconnection: upgrade, http2-settings\r\nhttp2-settings: AAMAAABk\r\n\r\n`,
  (word, key) => `${list}\r\nhost: x\r\n${key}expect: ${word}\r\nconnection: close\r\n\r\n`,
  (word, key) => `${list}\r\nhost: x\r\n${key}bad name: ${word}\r\n\r\n`,
  (word, key) => `${list}\r\nhost: x\r\n${key}x: ${word}\u0000\r\n\r\n`,
  (word, key) => `${list}\r\nhost: x\r\n${key}x: a\r\n ${word}\r\nconnection: close\r\n\r\n`,
  (word, key) => `${list}\r\nhost: x\r\n${key}: ${word}\r\n\r\n`,
  (word, key) => `${list}\r\nhost: x\r\n${key}x: ${word}${'x'.repeat(20_000)}\r\n\r\n`,
  (word, key) => `${list}\r\nhost: x\r\nhost: ${word}\r\n${key}${key}connection: close\r\n\r\n`,
  (word, key) => `${list}\nhost: x\n${key}x: ${word}\n\n`,
  (word, key) => `GET /v1/procedures?${word}${'x'.repeat(20_000)} HTTP/1.1\r\nhost: x\r\n${key}\r\n`,
  (word, key) => `GET /v1/proc edures/${word} HTTP/1.1\r\nhost: x\r\n${key}\r\n`,
  (word, key) => `${recall}\r\nhost: x\r\n${key}${json}\r\ncontent-length: -5\r\n\r\n${word}`,
  (word, key) => `${recall}\r\nhost: x\r\n${key}${json}\r\ncontent-length: 99999999999999999999\r\n\r\n${word}`,
  (word, key) => `${recall}\r\nhost: x\r\n${key}${json}\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n${word}`,
  (word, key) =>
    `${recall}\r\nhost: x\r\n${key}${json}\r\ncontent-length: 16\r\ntransfer-encoding: chunked\r\n\r\n10\r\n${question}\r\n0\r\n\r\n${word}`,
  (word, key) => `${recall}\r\nhost: x\r\n${key}${json}\r\ntransfer-encoding: gzip, chunked\r\n\r\n${word}`,
  (word, key) => `${recall}\r\nhost: x\r\n${key}${json}\r\ntransfer-encoding: ${word}\r\n\r\n${question}`,
  (word, key) => `${recall}\r\nhost: x\r\n${key}${json}\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n${word}\r\n`,
  (word, key) => `${recall}\r\nhost: x\r\n${key}${json}\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffff1\r\n${word}`,
  (word, key) =>
    `${recall}\r\nhost: x\r\n${key}${json}\r\ntransfer-encoding: chunked\r\n\r\n10;${word}=1\r\n${question}\r\n0\r\nx-trailer: ${word}\r\n\r\n`,
  (word, key) => `${recall}\r\nhost: x\r\n${key}${json}\r\ncontent-length: 1048577\r\n\r\n{"a":"${word}`,
  (word, key) => `${recall}\r\nhost: x\r\n${key}${json}\r\ncontent-length: 100\r\n\r\n{"question":"${word}`,
  (word, key) => `${recall}\r\nhost: x\r\n${key}${json}\r\ncontent-length: 4\r\n\r\n{"question":"${word}"}`,
  // Several at once: the last may be nonsense while the first are still being answered.
  (word, key) =>
    `${`${list}\r\nhost: x\r\n${key}\r\n`.repeat(4)}${list}\r\nhost: x\r\n${key}x: ${word}\r\nconnection: close\r\n\r\n`,
  (word, key) => `${`${recall}\r\nhost: x\r\n${key}${json}\r\ncontent-length: 16\r\n\r\n${question}`.repeat(3)}${word}\r\n\r\n`,
  (word, key) =>
    `GET /health/live HTTP/1.1\r\nhost: x\r\n\r\nGET /${word} HTTP/1.1\r\nhost: x\r\n${key}connection: close\r\n\r\n`,
  (word, key) => `\r\n\r\n\r\n${list}\r\nhost: x\r\n${key}x: ${word}\r\nconnection: close\r\n\r\n`,
];

/** A connection that goes wrong on the wire: no proper HTTP, or a client that is gone in the middle of it. */
export function nonsense(random: Random, word: string, authorization: readonly string[]): Nonsense {
  const number = random.below(texts.length + 8);
  const key = authorization.map((line) => `${line}\r\n`).join('');
  const text = texts[number];
  if (text) return { what: `nonsense ${number}`, parts: [utf8(text(word, key))], then: 'end', head: false };
  const whole = utf8(`${recall}\r\nhost: x\r\n${key}${json}\r\ncontent-length: ${question.length}\r\n\r\n${question}`);
  switch (number - texts.length) {
    case 0:
    case 1:
      return { what: 'gone at once', parts: [whole], then: 'drop', head: false };
    case 2:
    case 3:
    case 4:
      return { what: 'gone in the middle', parts: [whole.subarray(0, random.below(whole.length))], then: 'drop', head: false };
    case 5:
      return { what: 'a letter at a time', parts: [...whole].map((byte) => Buffer.from([byte])), then: 'end', head: false };
    case 6:
      return { what: 'noise', parts: [noise(random, 2_000)], then: 'end', head: false };
    default:
      return { what: 'nothing', parts: [Buffer.alloc(0)], then: 'end', head: false };
  }
}

const noise = (random: Random, length: number): Buffer => Buffer.from(Array.from({ length }, () => random.below(256)));
