/**
 * Which part may know which. The layers, from the inside out:
 *
 *   ranking, deciders, projections (pure)  <-  event log, encryption, embedding, judging, database (ports and adapters)
 *   <-  slices (access, procedures)  <-  composition (infrastructure, app.module, service)  <-  main, cli
 *
 * Type-only imports count: a pure file that names a type of the framework is no longer readable without it.
 */

/** Kinds of memory and of administration: each a slice of its own. */
const slices = ['access', 'evidence', 'graph', 'procedures', 'hypotheses', 'communities', 'feedback'];
const sliceFolder = `^src/(${slices.join('|')})/`;

/** What a slice shows to others. */
const publicFiles = ['^src/access/team-settings\\.ts$', '^src/access/scopes\\.ts$'];

/** Read top to bottom, decided from events alone. */
const deciders = [
  '^src/procedures/procedure\\.ts$',
  '^src/procedures/execution\\.ts$',
  '^src/procedures/judged-counters\\.ts$',
  '^src/procedures/execution-retention\\.ts$',
  '^src/access/team\\.ts$',
  '^src/operations/operation\\.ts$',
  '^src/evidence/(evidence|source)\\.ts$',
];
/** Constants and functions of a few lines that pure files are made with. */
const buildingBlocks = [
  '^src/event-log/(domain-event|stream-name)\\.ts$',
  '^src/access/(scopes|settings)\\.ts$',
  '^src/uuid\\.ts$',
  '^projections/engine/projection\\.ts$',
];
const pure = ['^src/ranking/', ...deciders, ...buildingBlocks, '^projections/.+\\.(projection|tables)\\.ts$'];

/** Frameworks, drivers, and the parts of Node that reach outside the process. */
const impure = [
  'node_modules/(@nestjs|fastify|@fastify|pg|pgvector|node-pg-migrate|@electric-sql|@eventstore|@energetic-ai|pino|rxjs|commander)/',
  '^(node:)?(http|https|http2|net|tls|dgram|dns|fs|child_process|worker_threads|cluster|os|process|timers)(/|$)',
];

const spec = '\\.spec\\.ts$';
const composition = ['^src/(infrastructure|app\\.module|service|serve|main|all-events)\\.ts$', '^src/cli/'];

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'pure-stays-pure',
      comment: 'Ranking, deciders and projections know no framework, driver or network: they run on events and numbers alone.',
      severity: 'error',
      from: { path: pure, pathNot: spec },
      to: { path: impure },
    },
    {
      name: 'pure-runs-only-pure-code',
      comment: 'Nor do they by way of another file: from anything else they take types, which are gone when it runs.',
      severity: 'error',
      from: { path: pure, pathNot: spec },
      to: { path: '^(src|projections|test)/', pathNot: pure, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'eventstore-client-in-its-folder',
      comment: 'Moving to the successor of this client is to be a change of one folder, and of the server that tests play.',
      severity: 'error',
      from: { pathNot: ['^src/event-log/eventstoredb/', '^test/support/eventstoredb/'] },
      to: { path: 'node_modules/@eventstore/' },
    },
    {
      name: 'pg-in-the-database-folder',
      comment: 'One place opens connections and maps errors; everybody else gets queries.',
      severity: 'error',
      from: { pathNot: '^(src/database|test)/' },
      to: { path: 'node_modules/(pg|@types/pg|node-pg-migrate)/' },
    },
    {
      name: 'pglite-in-the-embedded-folder',
      comment: 'Everything else sees a PostgreSQL server like any other.',
      severity: 'error',
      from: { pathNot: '^src/database/embedded/' },
      to: { path: 'node_modules/@electric-sql/' },
    },
    {
      name: 'slices-know-no-other-slice',
      comment: `A slice shows others only: ${publicFiles.join(', ')}`,
      severity: 'error',
      from: { path: sliceFolder, pathNot: spec },
      to: { path: sliceFolder, pathNot: ['^src/$1/', ...publicFiles] },
    },
    {
      name: 'what-lies-below-knows-no-slice',
      comment: 'Log, database, HTTP, ranking and the like serve every slice alike. The recalls stand above the slices they ask.',
      severity: 'error',
      from: { path: '^src/', pathNot: [sliceFolder, '^src/recall/recall', ...composition, spec] },
      to: { path: sliceFolder, pathNot: publicFiles },
    },
    {
      name: 'engine-knows-no-slice',
      comment: 'The projection engine runs any projection.',
      severity: 'error',
      from: { path: '^projections/engine/', pathNot: spec },
      to: { path: [sliceFolder, '^projections/(?!engine/)'] },
    },
    {
      name: 'projections-know-events-and-pure-functions',
      comment: 'A projection takes event types and pure functions from src, and the database as a type; its queries do likewise.',
      severity: 'error',
      from: { path: '^projections/(?!engine/)', pathNot: spec },
      to: {
        path: '^src/',
        pathNot: [
          '^src/(event-log|config)/[^/]+\\.ts$',
          '^src/ranking/',
          '^src/database/database\\.ts$',
          ...deciders,
          '^src/access/settings\\.ts$',
          '^src/uuid\\.ts$',
        ],
      },
    },
    {
      name: 'nothing-imports-the-command-line',
      severity: 'error',
      from: { pathNot: ['^src/cli/', '^test/'] },
      to: { path: '^src/cli/' },
    },
    {
      name: 'the-command-line-speaks-http',
      comment:
        'It is a client: of the product it takes the service as a whole, the doctor, importers and measures, settings, scopes, and the database to migrate.',
      severity: 'error',
      from: { path: '^src/cli/', pathNot: spec },
      to: {
        path: '^(src|projections)/',
        pathNot: [
          '^src/(cli|config|database|importing|evaluation)/',
          '^src/serv(e|ice)\\.ts$',
          '^src/doctor/doctor\\.ts$',
          '^src/access/scopes\\.ts$',
        ],
      },
    },
    {
      name: 'product-never-imports-tests',
      severity: 'error',
      from: { path: '^(src|projections)/', pathNot: spec },
      to: { path: ['^test/', spec] },
    },
    {
      name: 'no-circular-imports',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      comment: 'A file that nobody imports and that imports nobody is left over.',
      severity: 'error',
      from: { orphan: true, pathNot: [spec, '\\.d\\.ts$', '^test/support/global-teardown\\.ts$'] },
      to: {},
    },
    {
      name: 'nothing-unresolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'no-development-packages-in-the-product',
      severity: 'error',
      from: { path: '^(src|projections)/', pathNot: spec },
      to: { dependencyTypes: ['npm-dev'], pathNot: 'node_modules/@types/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    // The code is ESM: a function of ours that is called require imports nothing.
    moduleSystems: ['es6'],
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'types', 'default'] },
  },
};
