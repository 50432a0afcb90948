import embedded from './jest.config.js';

/** How well recall finds what answers the questions of LoCoMo, in the file of MNEME_TEST_LOCOMO_FILE. */
export default {
  ...embedded,
  testMatch: ['<rootDir>/test/locomo/**/*.spec.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
  testTimeout: 3_600_000,
  // The command line starts a service with a database of its own.
  globalSetup: undefined,
  globalTeardown: undefined,
};
