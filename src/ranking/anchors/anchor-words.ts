/**
 * The word lists of the anchor grammar. Lists, because the alternative (anything with a dot, anything of hexadecimal
 * digits) takes ordinary language for identifiers, and a hard anchor that nobody meant empties the answer.
 */

/** A noun that makes what follows it an id: `issue DM-4`, `job UNT-013`. */
export const entityWords = new Set(['account', 'bug', 'issue', 'job', 'project', 'queue', 'service', 'task', 'ticket']);

/** What may stand behind the colon of a scope: `feedback:read` is one, `note:see` is none. */
export const scopeActions = new Set([
  'admin',
  'all',
  'approve',
  'create',
  'delete',
  'evaluate',
  'execute',
  'export',
  'import',
  'list',
  'manage',
  'publish',
  'read',
  'revoke',
  'update',
  'write',
]);

/** Endings of source and configuration files: a name with one is a hard anchor. */
export const sourceEndings = new Set(
  (
    'bash bat c cc cfg cjs clj cmake conf cpp cs css csv cts dart dockerfile env ex exs feature go gradle graphql groovy h hpp ' +
    'hs htm html ini ipynb java js json jsonc jsonl jsx kt kts less lock lua md mdx mjs mk mts php pl plist properties proto ps1 ' +
    'py r rb rs rst sass scala scss sh sol sql svelte swift tf tfvars toml ts tsx txt vue xml yaml yml zig zsh'
  ).split(' '),
);

/** Endings of other files: a name with one helps the ranking, and demands nothing. */
export const otherEndings = new Set(
  'avi bak bin bmp db dll dmg doc docx exe gif gz iso jar jpeg jpg log mov mp3 mp4 msi odt ogg pdf png ppt pptx rar rpm rtf so svg tar tgz wav webp xls xlsx zip'.split(
    ' ',
  ),
);

/** Names of things that look like files. */
export const productNames = new Set(
  'alpine.js angular.js asp.net backbone.js chart.js d3.js discord.js ember.js express.js knockout.js moment.js nest.js next.js node.js nuxt.js p5.js react.js require.js socket.io solid.js three.js underscore.js vue.js'.split(
    ' ',
  ),
);

/** Standards, algorithms and diseases are written like issue keys; nobody files them. */
export const standardPrefixes = new Set(
  'AES ANSI ASTM BS CCITT CIE COVID DIN ECMA EN ES FIPS GB HTTP IEC IEEE IP IPV ISO ITU JIS MD MIL MP NIST PC RFC RIPEMD RSA SHA TLS USB UTC UTF WCAG WIN'.split(
    ' ',
  ),
);

/** Words that happen to be hexadecimal digits with a number among them. */
export const hexadecimalWords = new Set(['face2face', 'babe2babe', 'bad2bad']);

/** Names of natural science and of everyday life that carry a number behind a hyphen, or a dot within. */
export const naturalNames: readonly RegExp[] = [
  /^(?:interleukin|il|shp|cox|nf|bcl|her|pd|glp|sars-cov|cov|covid|tnf|hiv|htlv|omega|type|phase|vitamin|apollo|channel|level|grade|stage|top|catch|formula|g|u|f|b|k|e|mp|a|c)-\d{1,2}$/i,
  /^[A-Z]{1,5}\d{0,3}[A-Z]?\.[A-Z]$/,
  /^(?:\p{L}\.)+\p{L}?$/u,
];
