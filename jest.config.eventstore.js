import embedded from './jest.config.js';

/**
 * The contract and end-to-end suites with the event log in EventStoreDB: the server of EVENTSTORE_URL, else one that speaks
 * its protocol inside the test process. Every test has streams of its own and removes nothing else.
 */
process.env.MNEME_TEST_EVENT_LOG = 'eventstoredb';

export default {
  ...embedded,
  testMatch: ['<rootDir>/test/contract/eventstoredb*.spec.ts', '<rootDir>/test/e2e/**/*.spec.ts'],
  testPathIgnorePatterns: [...embedded.testPathIgnorePatterns, '/(cli|importing)\\.e2e\\.spec\\.ts$'],
};
