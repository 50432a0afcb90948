import embedded from './jest.config.js';

/** The service killed with -9 again and again. An ordinary run kills it some times only; see MNEME_TEST_KILLS. */
export default { ...embedded, testMatch: ['<rootDir>/test/crash/**/*.spec.ts'], testTimeout: 1_800_000 };
