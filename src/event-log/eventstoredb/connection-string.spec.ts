import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isInvalidConnectionString, readConnectionString, withoutCredentials } from './connection-string.js';

const settingsOf = (connectionString: string) => readConnectionString(connectionString).settings;

describe('a connection string', () => {
  it('names one node, on port 2113 unless it says otherwise', () => {
    expect(settingsOf('esdb://log.example')).toEqual({ endpoint: { address: 'log.example', port: 2113 } });
    expect(settingsOf(' esdb://10.0.0.1:2114/ ')).toEqual({ endpoint: { address: '10.0.0.1', port: 2114 } });
    expect(settingsOf('esdb://[::1]:2114')).toEqual({ endpoint: { address: '[::1]', port: 2114 } });
  });

  it('names the nodes of a cluster, or the DNS name for all of them', () => {
    const endpoints = [
      { address: 'a', port: 2113 },
      { address: 'b', port: 2114 },
    ];
    expect(settingsOf('esdb://a,b:2114')).toEqual({ endpoints });
    expect(settingsOf('esdb+discover://a,b:2114')).toEqual({ endpoints });
    expect(settingsOf('esdb+discover://cluster.example:2113')).toEqual({ discover: { address: 'cluster.example', port: 2113 } });
  });

  it('holds name and password percent-encoded, whatever characters they have', () => {
    const { credentials } = readConnectionString('esdb://us%65r:a:b%40%2F%3F%23%25@log.example');
    expect(credentials).toEqual({ username: 'user', password: 'a:b@/?#%' });
    expect(readConnectionString('esdb://log.example').credentials).toBeUndefined();
  });

  it('gives no password away where there is no TLS', () =>
    expect(readConnectionString('esdb://admin:changeit@log.example?tls=false')).toMatchObject({
      credentials: undefined,
      channel: { insecure: true },
    }));

  it('has options, written in any case, with _ or with -', () => {
    const { settings, channel } = readConnectionString(
      'esdb+discover://a?TLS=true&max_discover_attempts=3&gossip-timeout=2&keepAliveInterval=-1&connectionName=m%20n&nodePreference=Leader&throwOnAppendFailure=true',
    );
    expect(settings).toMatchObject({
      maxDiscoverAttempts: 3,
      gossipTimeout: 2,
      keepAliveInterval: -1,
      connectionName: 'm n',
    });
    expect(channel).toEqual({ insecure: false });
  });

  it('names files with certificates', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'certificates-'));
    try {
      const files = ['tlsCAFile', 'userCertFile', 'userKeyFile'].map((name) => [name, join(folder, name)] as const);
      for (const [name, path] of files) writeFileSync(path, name);
      const options = files.map(([name, path]) => `${name}=${encodeURIComponent(path)}`).join('&');
      expect(readConnectionString(`esdb://a?${options}`).channel).toEqual({
        insecure: false,
        rootCertificate: Buffer.from('tlsCAFile'),
        userCertFile: Buffer.from('userCertFile'),
        userKeyFile: Buffer.from('userKeyFile'),
      });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it.each([
    ['is none', ''],
    ['is one of another product', 'postgres://admin:changeit@localhost/mneme'],
    ['has the scheme of the successor', 'kurrentdb://admin:changeit@localhost:2113'],
    ['has the short scheme of the successor', 'kdb+discover://admin:changeit@localhost'],
    ['has no host', 'esdb://admin:changeit@'],
    ['has no password', 'esdb://changeit@localhost'],
    ['has a port that is none', 'esdb://admin:changeit@localhost:70000'],
    ['has credentials that are not percent-encoded', 'esdb://admin:changeit%@localhost'],
    ['has an option that is unknown', 'esdb://admin:changeit@localhost?tlsverify=false'],
    ['has an option without a value', 'esdb://admin:changeit@localhost?tls'],
    ['has a number that is none', 'esdb://admin:changeit@localhost?gossipTimeout=soon'],
    ['has a switch that is none', 'esdb://admin:changeit@localhost?tls=maybe'],
    ['would not verify certificates', 'esdb://admin:changeit@localhost?tlsVerifyCert=false'],
    ['would not report failed appends', 'esdb://admin:changeit@localhost?throwOnAppendFailure=false'],
    ['would read from followers', 'esdb://admin:changeit@localhost?nodePreference=read_only_replica'],
    ['names a file that is not there', 'esdb://admin:changeit@localhost?tlsCAFile=/no/such/changeit.crt'],
    ['names half of a certificate', 'esdb://admin:changeit@localhost?userKeyFile=/changeit.key'],
    ['names certificates without TLS', 'esdb://admin:changeit@localhost?tls=false&tlsCAFile=/changeit.crt'],
  ])('is refused without its content when it %s', (_, connectionString) => {
    let failure: unknown;
    try {
      readConnectionString(connectionString);
    } catch (error) {
      failure = error;
    }
    expect(isInvalidConnectionString(failure) && failure.message).toMatch(/^(?!.*changeit).+/);
  });

  it('is shown without name and password', () => {
    expect(withoutCredentials('esdb://admin:ch@ngeit@a,b?tls=true')).toBe('esdb://***@a,b?tls=true');
    expect(withoutCredentials('esdb+discover://a')).toBe('esdb+discover://a');
  });
});
