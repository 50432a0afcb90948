import embedded from './jest.config.js';

/**
 * The same suites, and those that need several connections, on the server of MNEME_TEST_DATABASE_URL. The command line and the
 * hostile requests have an embedded database of their own, whatever the rest runs on.
 */
if (!process.env.MNEME_TEST_DATABASE_URL)
  throw new Error('set MNEME_TEST_DATABASE_URL to an empty PostgreSQL database with pgvector');

export default {
  ...embedded,
  testPathIgnorePatterns: [
    '/node_modules/',
    '/dist/',
    '<rootDir>/test/crash/',
    '<rootDir>/test/locomo/',
    '<rootDir>/test/fuzz/',
    '/(cli|importing)\\.e2e\\.spec\\.ts$',
  ],
};
