import embedded from './jest.config.js';

/** The service killed with -9, and its log taken away, again and again; MNEME_TEST_KILLS says how often. */
const onServer = process.env.MNEME_TEST_DATABASE_URL ? [] : ['\\.native\\.spec\\.ts$'];

export default {
  ...embedded,
  testMatch: ['<rootDir>/test/crash/**/*.spec.ts'],
  testTimeout: 1_800_000,
  // The one on a PostgreSQL server runs where there is a server.
  testPathIgnorePatterns: ['/node_modules/', '/dist/', ...onServer],
};
