import { ConfigurationError } from '../config/configuration.js';
import { DataFolderInUse } from '../database/embedded/data-folder.js';
import { DatabaseUnavailable } from '../database/errors.js';
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
});
