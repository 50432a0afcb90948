import { HttpException, NotFoundException } from '@nestjs/common';
import { DatabaseFailure, DatabaseUnavailable } from '../database/errors.js';
import { AdapterDefect, DependencyUnavailable } from '../embedding/errors.js';
import { KeyErased } from '../encryption/errors.js';
import { AccessDenied, AppendOutcomeUnknown, AppendTooLarge, LogUnavailable } from '../event-log/errors.js';
import { CommandContended, CommandRefused, VersionConflict } from '../event-log/execute.js';
import { problemBody, problemOf, registerRefusals } from './problem.js';

describe('an error becomes an answer', () => {
  it.each<[Error, number, string]>([
    [new CommandRefused('not_found'), 404, 'not_found'],
    [new CommandRefused('anything_else'), 422, 'anything_else'],
    [new VersionConflict(3n), 412, 'version_conflict'],
    [new VersionConflict('no_stream'), 404, 'not_found'],
    [new LogUnavailable('x'), 503, 'log_unavailable'],
    [new AccessDenied('x'), 503, 'log_access_denied'],
    [new DatabaseUnavailable('57P01'), 503, 'database_unavailable'],
    [new AppendOutcomeUnknown('x'), 503, 'append_outcome_unknown'],
    [new CommandContended(), 503, 'command_contended'],
    [new DependencyUnavailable('embedding_unavailable', 'HTTP 500'), 503, 'embedding_unavailable'],
    [new AppendTooLarge(2, 1), 413, 'too_large'],
    [new KeyErased('x'), 410, 'erased'],
    [new AdapterDefect('evaluator', 'no verdict'), 500, 'internal'],
    [new DatabaseFailure('23505', 'procedures', undefined), 500, 'internal'],
    [new Error('anything'), 500, 'internal'],
    [new NotFoundException('Cannot GET /secret'), 404, 'route_not_found'],
    [new HttpException('secret', 405), 405, 'method_not_allowed'],
    [new HttpException('secret', 502), 500, 'internal'],
  ])('%s is %i %s', (error, status, code) => {
    expect(problemOf(error)).toMatchObject({ status, code });
  });

  it('asks to come back later whenever something is unavailable', () => {
    for (const error of [
      new LogUnavailable('x'),
      new CommandContended(),
      new DependencyUnavailable('intent_unavailable', undefined),
    ])
      expect(problemOf(error).headers).toHaveProperty('retry-after');
  });

  it('says the current version in body and ETag', () => {
    expect(problemOf(new VersionConflict(3n))).toMatchObject({ headers: { etag: '"3"' }, extensions: { current_version: 3 } });
  });

  it('keeps what an unknown error says to itself', () => {
    const body = problemBody(problemOf(new Error('SELECT secret FROM hidden')), 'c-1');
    expect(body).toEqual({
      type: 'urn:mneme:problem:internal',
      title: 'Internal',
      status: 500,
      code: 'internal',
      correlation_id: 'c-1',
    });
  });

  it('takes nothing from an error that only looks like one of ours', () => {
    expect(problemOf({ code: 'log_unavailable', message: 'secret' })).toEqual({ status: 500, code: 'internal' });
    expect(problemOf('secret')).toEqual({ status: 500, code: 'internal' });
  });

  it('uses the status that a slice registered for a refusal, once', () => {
    registerRefusals({ spec_gone: 410 });
    registerRefusals({ spec_gone: 410 });
    expect(problemOf(new CommandRefused('spec_gone', 'id'))).toEqual({ status: 410, code: 'spec_gone', field: 'id' });
    expect(() => registerRefusals({ spec_gone: 409 })).toThrow('spec_gone');
  });
});
