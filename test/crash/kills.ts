/** How often one crash test kills the service: 50 times in `npm run test:crash`, unless it says otherwise. */
export const kills = Number(process.env.MNEME_TEST_KILLS ?? '50');
