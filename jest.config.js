/**
 * Everything runs in one process, because the embedded PostgreSQL has a single backend: two test files at once would
 * wait for each other's transactions. Workers and the global setup run compiled code, so `npm test` builds first.
 */
export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/{src,projections,test}/**/*.spec.ts'],
  testPathIgnorePatterns: [
    '/node_modules/',
    '/dist/',
    '<rootDir>/test/crash/',
    '<rootDir>/test/locomo/',
    '\\.native\\.spec\\.ts$',
  ],
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: { '^.+\\.ts$': '@swc/jest' },
  globalSetup: '<rootDir>/dist/test/support/global-setup.js',
  globalTeardown: '<rootDir>/dist/test/support/global-teardown.js',
  maxWorkers: 1,
  testTimeout: 90_000,
  // What a test left open must not keep a finished run from ending.
  forceExit: true,
};
