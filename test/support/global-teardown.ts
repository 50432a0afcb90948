// eslint-disable-next-line no-restricted-syntax -- Jest asks for a default export
export default async function globalTeardown(): Promise<void> {
  await globalThis.embeddedPostgres?.stop();
}
