/** An answer of the service, its JSON read. */
export interface Answer<Body = Record<string, unknown>> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
  /** Of a write. */
  readonly position: string;
}

export interface RequestOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Speaks to a running service with one key, through its listening port. */
export class Client {
  constructor(
    readonly url: string,
    readonly key: string | undefined,
  ) {}

  get = <Body = Record<string, unknown>>(path: string, options?: RequestOptions) => this.send<Body>('GET', path, options);
  post = <Body = Record<string, unknown>>(path: string, body: unknown = {}, options: RequestOptions = {}) =>
    this.send<Body>('POST', path, { ...options, body });
  patch = <Body = Record<string, unknown>>(path: string, body: unknown) => this.send<Body>('PATCH', path, { body });
  delete = <Body = Record<string, unknown>>(path: string, options?: RequestOptions) => this.send<Body>('DELETE', path, options);

  async send<Body>(method: string, path: string, { body, headers, signal }: RequestOptions = {}): Promise<Answer<Body>> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        ...(this.key === undefined ? {} : { authorization: `Bearer ${this.key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: (text === '' ? undefined : JSON.parse(text)) as Body,
      position: response.headers.get('mneme-position') ?? '',
    };
  }
}
