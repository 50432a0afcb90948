import { DatabaseFailure, DatabaseUnavailable } from '../../database/errors.js';
import { appendFailure, mayBeAnotherAppend, readFailure } from './failures.js';

const failure = (sqlState: string, constraint?: string) => new DatabaseFailure(sqlState, 'events', constraint);
const unavailable = (sqlState?: string) => new DatabaseUnavailable(sqlState);

describe('a failed append', () => {
  it.each([
    ['no server answers', unavailable()],
    ['the server ends the connection', unavailable('57P01')],
    ['the connection breaks', unavailable('08006')],
    ['the server does not know either', unavailable('40003')],
    ['something else fails', new Error('socket hang up')],
  ])('has an unknown outcome when %s', (_, error) =>
    expect(appendFailure(error)).toMatchObject({ code: 'append_outcome_unknown' }),
  );

  it.each([
    ['has no connection to give', unavailable('53300')],
    ['is out of space', unavailable('53100')],
    ['is starting', unavailable('57P03')],
    ['keeps its lock for too long', unavailable('55P03')],
    ['sees a deadlock', unavailable('40P01')],
    ['only reads', failure('25006')],
    ['cancels the statement', failure('57014')],
  ])('means that the log is unavailable when the server %s', (_, error) =>
    expect(appendFailure(error)).toMatchObject({ code: 'log_unavailable', cause: error }),
  );

  it.each(['28P01', '28000', '42501'])('means that access is denied at SQLSTATE %s', (sqlState) =>
    expect(appendFailure(failure(sqlState))).toMatchObject({ code: 'log_access_denied' }),
  );

  it('is the append’s own fault when an event id already stands in its stream', () =>
    expect(appendFailure(failure('23505', 'events_stream_event_id'))).toMatchObject({ code: 'invalid_append' }));

  it('stays what it is when it is none of these', () => {
    const defect = failure('42883');
    expect(appendFailure(defect)).toBe(defect);
  });

  it('may be the fault of another append of its batch only when the server refused what was sent', () => {
    expect(mayBeAnotherAppend(appendFailure(failure('23505', 'events_stream_event_id')))).toBe(true);
    expect(mayBeAnotherAppend(appendFailure(failure('22021')))).toBe(true);
    expect(mayBeAnotherAppend(appendFailure(failure('42501')))).toBe(false);
    expect(mayBeAnotherAppend(appendFailure(unavailable()))).toBe(false);
  });
});

describe('a failed read', () => {
  it.each([
    ['no server answers', unavailable()],
    ['the server ends the connection', unavailable('57P01')],
    ['the server refuses the statement', failure('42P01')],
    ['something else fails', new Error('socket hang up')],
  ])('means that the log is unavailable when %s', (_, error) =>
    expect(readFailure(error)).toMatchObject({ code: 'log_unavailable', cause: error }),
  );

  it('means that access is denied when the server refuses our credentials', () =>
    expect(readFailure(failure('28P01'))).toMatchObject({ code: 'log_access_denied' }));

  it('never repeats the words of an error that is not ours', () =>
    expect(readFailure(new Error('row ("secret")'))).not.toMatchObject({ message: expect.stringContaining('secret') as string }));
});
