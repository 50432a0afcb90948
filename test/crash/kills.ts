/** How often one crash test kills the service: a few times in an ordinary run, 50 times in `npm run test:crash`. */
export const kills = Number(process.env.MNEME_TEST_KILLS ?? '5');
