import { ConfigurationError } from '../config/configuration.js';
import { DataFolderInUse } from '../database/embedded/data-folder.js';
import { DatabaseFailure, DatabaseUnavailable } from '../database/errors.js';
import { exitCodes, failureOf, usageFailure } from './failure.js';

describe('the exit code', () => {
  it.each([
    ['a usage failure', usageFailure('scope', 'name one'), exitCodes.usage, 'usage'],
    ['a bad setting', new ConfigurationError(['MNEME_PORT: must be a number']), exitCodes.configuration, 'configuration_invalid'],
    ['a folder in use', new DataFolderInUse('/data', 7), exitCodes.folderInUse, 'data_folder_in_use'],
    ['a database that does not answer', new DatabaseUnavailable('57P03'), exitCodes.unreachable, 'database_unavailable'],
    ['a port in use', Object.assign(new Error('listen'), { code: 'EADDRINUSE' }), exitCodes.failed, 'port_in_use'],
    ['any other error', new Error('surprise'), exitCodes.failed, 'internal'],
    ['what is no error', 'surprise', exitCodes.failed, 'internal'],
  ])('of %s is its own', (_, error, exitCode, code) => {
    expect(failureOf(error)).toMatchObject({ exitCode, code });
  });

  it('comes with every bad setting by its name', () => {
    const failure = failureOf(new ConfigurationError(['MNEME_PORT: must be a number', 'MNEME_X: there is no such setting']));
    expect(failure.facts).toEqual({
      field: 'MNEME_PORT',
      fields: [
        { field: 'MNEME_PORT', message: 'must be a number' },
        { field: 'MNEME_X', message: 'there is no such setting' },
      ],
    });
  });

  it.each([
    ['42501', /^the user of DATABASE_URL lacks a right: .* \(SQLSTATE 42501\)$/],
    ['3D000', /^the database of DATABASE_URL does not exist: .* \(SQLSTATE 3D000\)$/],
    ['28000', /^the server refuses the user or the password of DATABASE_URL: .* \(SQLSTATE 28000\)$/],
    ['28P01', /^the server refuses the user or the password of DATABASE_URL: .* \(SQLSTATE 28P01\)$/],
    ['23505', /^SQLSTATE 23505$/],
  ])('of a server that answers %s comes with what to do about it', (state, message) => {
    expect(failureOf(new DatabaseFailure(state, undefined, undefined))).toMatchObject({
      exitCode: exitCodes.failed,
      code: 'database_failure',
      message: expect.stringMatching(message) as string,
    });
  });
});
